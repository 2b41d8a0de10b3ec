"""Parts and views of tensors, compiled for the CPU, against torch; all values are exact."""

from __future__ import annotations

import pytest
import torch

import tilefoundry
from tests.compiler import view_programs
from tests.compiler.running import compiled
from tilefoundry.ir.core.module import Module


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_parts_of_rows(rows: int) -> None:
    x = torch.randint(-99, 99, (rows, 64)).float()
    compare(view_programs.Halves, x, (-x[:, 32:], 2 * x[:, :32]))


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_views_of_fragments(rows: int) -> None:
    x = torch.randint(-99, 99, (rows, 64)).float()
    total = x.sum(1, keepdim=True)
    compare(view_programs.Centred, x, (2 * (x - total), total.expand(rows, 64)))


def compare(module: Module, x: torch.Tensor, expected: tuple[torch.Tensor, ...]) -> None:
    """Checks the evaluator and the kernel against exact values."""
    for values in (tilefoundry.evaluate(module, x), compiled(module)(x)):
        assert isinstance(values, tuple)
        assert all(torch.equal(value, known) for value, known in zip(values, expected, strict=True))
