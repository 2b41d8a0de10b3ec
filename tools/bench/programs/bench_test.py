"""The comparisons of compiled programs, on the CPU."""

from __future__ import annotations

import torch

from tools.bench.programs.bench import Comparison, measure
from tools.bench.programs.unplaced import unplaced


def test_every_program_agrees_with_torch() -> None:
    found = measure(torch.device("cpu"))
    assert [c for c in found if c.fault] == []
    placed = {"index_add", "index_copy", "scatter_add", "scatter_add to one", "conv2d"}
    assert {c.program for c in found} == placed | {case.name for case in unplaced(256)}
    assert all(isinstance(c, Comparison) and c.ours > 0 and c.torch > 0 for c in found)
