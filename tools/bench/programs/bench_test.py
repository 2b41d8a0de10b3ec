"""The comparisons of compiled programs, on the CPU."""

from __future__ import annotations

import torch

from tools.bench.programs.bench import Comparison, measure


def test_every_program_agrees_with_torch() -> None:
    found = measure(torch.device("cpu"))
    assert [c for c in found if c.fault] == []
    assert {c.program for c in found} == {"index_add", "index_copy", "scatter_add", "scatter_add to one", "conv2d"}
    assert all(isinstance(c, Comparison) and c.ours > 0 and c.torch > 0 for c in found)
