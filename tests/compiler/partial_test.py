"""Products of fragments and the terms that they leave, compiled, against the evaluator in f64."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.compiler import partial_programs as programs
from tests.compiler.running import compare
from tilefoundry.runtime import AllClose, Equal


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def agree(module: Any, *inputs: Tensor) -> None:
    """Within a few roundings of the f32 sums, and one of the result: sums of some hundred products of small numbers."""
    eps = max(torch.finfo(inputs[0].dtype).eps / 2, 4 * torch.finfo(torch.float32).eps)
    compare(module, *inputs, bounds=[AllClose(rtol=eps, atol=64 * torch.finfo(torch.float32).eps)])


@pytest.mark.parametrize(
    ("dtype", "rows", "k"), [(torch.float32, 5, 64), (torch.float16, 1, 32), (torch.bfloat16, 3, 96)]
)
def test_over_lanes(dtype: torch.dtype, rows: int, k: int) -> None:
    names = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
    agree(programs.over_lanes(names[dtype], rows, k), numbers(rows, k, dtype=dtype), numbers(k, 3, dtype=dtype))


def test_over_warps() -> None:
    agree(programs.over_warps, numbers(64, 12), numbers(12, 5))


def test_over_two_axes() -> None:
    agree(programs.over_two_axes, numbers(7, 256, dtype=torch.bfloat16), numbers(256, 3, dtype=torch.bfloat16))


def test_terms_are_added_multiplied_moved_and_summed() -> None:
    agree(programs.terms, numbers(7, 256), numbers(256, 3))


def test_registers_that_every_thread_holds() -> None:
    agree(programs.held_by_all, numbers(5, 64), numbers(64, 3), numbers(5, 3), numbers(128, 3))


def test_what_every_thread_holds_is_moved() -> None:
    x = torch.randint(-99, 99, (4, 6), generator=torch.Generator().manual_seed(5)).float()
    compare(programs.moved_by_all, x, bounds=[Equal()])


def test_terms_of_rank_0() -> None:
    agree(programs.scalars, numbers(5, 64), numbers(64, 3))


def test_terms_are_added_up_in_shared_memory() -> None:
    agree(programs.staged, numbers(8, 128, dtype=torch.float16), numbers(128, 4, dtype=torch.float16))


@pytest.mark.parametrize(
    ("a", "b", "module"), [((4, 3, 64), (64, 5), programs.batched), ((2, 1, 3, 64), (3, 64, 5), programs.pairs)]
)
def test_leading_axes(a: tuple[int, ...], b: tuple[int, ...], module: Any) -> None:
    agree(module, numbers(*a), numbers(*b))


def test_nothing_split() -> None:
    x, y = (torch.randint(-99, 99, shape, dtype=torch.int32) for shape in ((8, 6), (6, 64)))
    compare(programs.nothing_split, x, y, bounds=[Equal()])


@pytest.mark.parametrize("k", [1, 64, 300])
def test_tile_by_tile(k: int) -> None:
    agree(programs.Rows, numbers(4, k), numbers(k, 8))
