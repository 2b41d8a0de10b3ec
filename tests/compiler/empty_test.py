"""Extents of 0 that are known when a program is compiled: right shapes, identities, and no tensor without elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import tilefoundry
from tests.compiler import empty_programs as programs
from tests.compiler.running import compiled
from tests.compiler.shape_cases import bits, poisoned
from tilefoundry import TensorType, VerifyError
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.tir import Binding, PrimFunction, items_within, unfold
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget, CudaTarget, Target

H200 = CudaTarget("nvidia.h200_sxm")
X = torch.arange(12.0).reshape(4, 3)
WIDE = torch.arange(32.0).reshape(8, 4)
TABLES = torch.rand(2, 9, 8, generator=torch.Generator().manual_seed(0))


def none(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


CASES: dict[str, tuple[Any, tuple[torch.Tensor, ...]]] = {
    **{
        f"shapes_kept-{r}-{c}": (programs.shapes_kept(r, c), (none(r, c), none(c))) for r, c in ((4, 0), (0, 4), (0, 0))
    },
    "reductions": (
        programs.reductions,
        (none(4, 0), *(none(4, 0, dtype=dtype) for dtype in (torch.int32, torch.int64, torch.bfloat16))),
    ),
    "joined": (programs.joined, (X, none(4, 0), none(0, dtype=torch.int64))),
    "products": (programs.products, (X, none(4, 0), none(0, 3))),
    "choices": (programs.choices, (none(4, 0), none(0, 128), X)),
    "beyond": (programs.beyond, (none(0, 3), X)),
    "carried": (programs.carried, (X, none(4, 0))),
    "filled": (programs.filled, (WIDE, none(0, 4))),
    "attention": (programs.attention, (torch.ones(1, 1, 4, 8), none(1, 1, 0, 8), none(1, 1, 0, 8))),
    **{
        f"attention_of_tiles-{n}-{d}": (
            programs.attention_of_tiles(n, d),
            (torch.ones(1, 1, 4, d), torch.ones(1, 1, n, d), torch.arange(n * 8.0).reshape(1, 1, n, 8)),
        )
        for n, d in ((0, 8), (4, 0))
    },
    "moved": (programs.moved, (X, none(4, 0), X.reshape(1, 4, 1, 3), none(4, 0, dtype=torch.int64))),
    "convolution": (programs.convolution, (none(1, 0, 5, 5), none(4, 0, 2, 2), torch.arange(4.0))),
    "rotated": (
        programs.rotated,
        (none(1, 4, 0, 8), torch.arange(64.0).reshape(1, 4, 2, 8), *TABLES, torch.tensor([3, 1, 0, 8])),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_evaluator(name: str) -> None:
    program, inputs = CASES[name]
    evaluated = tilefoundry.evaluate(program, *inputs)
    expected = evaluated if isinstance(evaluated, tuple) else (evaluated,)
    outputs = [poisoned(x) if x.numel() and x.ndim else torch.zeros_like(x) for x in expected]
    compiled(program)(*inputs, *outputs)
    for found, want in zip(outputs, expected, strict=True):
        torch.testing.assert_close(bits(found), bits(want), equal_nan=True, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("target", [CpuTarget(), H200], ids=["cpu", "cuda"])
@pytest.mark.parametrize("name", CASES)
def test_kernels_hold_no_tensor_without_elements(name: str, target: Target) -> None:
    """Nor does a kernel that has nothing to write do anything."""
    [kernel] = lower(CASES[name][0], target).functions
    assert isinstance(kernel, PrimFunction)
    items = list(items_within(unfold(kernel.body)))
    bound = [item.var for item in items if isinstance(item, Binding)]
    assert not [var for var in bound if isinstance(var.type, TensorType) and 0 in var.type.shape]
    assert name.startswith("shapes_kept") == (items == [])


@pytest.mark.parametrize("name", ["reductions", "joined", "products", "convolution", "moved", "attention_of_tiles-4-0"])
def test_cuda_compiles(tmp_path: Path, name: str) -> None:
    [text] = compile_ptx(emit_module(lower(CASES[name][0], H200), H200), CompilerOptions(), tmp_path).values()
    assert ".entry" in text


def test_results_without_elements_launch_nothing() -> None:
    results = compiled(CASES["shapes_kept-4-0"][0])(none(4, 0), none(0))
    assert {x.shape for x in results} == {(4, 0), (0, 4), (1, 4, 0), (2, 4, 0)}


@pytest.mark.parametrize("program", [programs.read_by_number, programs.read_by_index])
def test_nothing_is_read_where_nothing_is(program: Any) -> None:
    with pytest.raises(VerifyError, match=r"reads elements along axis . of a tensor of shape \((4, 0|0, 4)\)") as found:
        lower(program, CpuTarget())
    assert found.value.span is not None and found.value.span.file.endswith("empty_programs.py") and found.value.remedy
