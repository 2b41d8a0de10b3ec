"""Programs that name no mesh: cut into kernels, placed, and held against the evaluator.

In f32 they are placed for a CPU, one thread to a CTA; in bf16 for a GPU, four warps to a CTA, and run on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

import tilefoundry
from tests.compiler import unplaced_programs as programs
from tests.compiler.running import compare, compiled
from tilefoundry import VerifyError, lower, normalize_to_module
from tilefoundry.ir import tir
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import AllClose, Predicate
from tilefoundry.target import CudaTarget

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16}
# Sums of up to 77 products of numbers up to 4, and their exponentials.
F32 = [AllClose(atol=1e-5, rtol=1e-5)]
FAMILIES = {
    family.__name__: family
    for family in (programs.elementwise, programs.rows, programs.products, programs.moved, programs.loops)
}
CASES = [(f, name) for f, family in FAMILIES.items() for name in family("f32")]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(("family", "name"), CASES, ids=[name for _, name in CASES])
def test_agrees_with_the_evaluator(family: str, name: str, dtype: str) -> None:
    program, shapes = FAMILIES[family](dtype)[name]
    module = normalize_to_module(program)
    if dtype == "bf16":
        module = replace(module, target=CudaTarget("nvidia.h200_sxm"))
    generator = torch.Generator().manual_seed(len(name))
    inputs = [torch.randn(shape, generator=generator).to(TORCH[dtype]) for shape in shapes]
    compare(module, *inputs, bounds=F32 if dtype == "f32" else _as_if_rounded_at_each_op(module, inputs))


def _as_if_rounded_at_each_op(module: Module, inputs: Sequence[torch.Tensor]) -> list[Predicate]:
    """A kernel rounds its results alone, so it must do no worse than ops that round one by one."""
    rounded = _results(tilefoundry.evaluate(module, *inputs))
    exact = _results(tilefoundry.evaluate(module, *inputs, precision="f64"))
    worst = max(float((r.double() - e.double()).abs().max()) for r, e in zip(rounded, exact, strict=True))
    return [AllClose(atol=worst, rtol=2**-8)]


def _results(result: Any) -> tuple[torch.Tensor, ...]:
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def test_values_and_places_are_put_in_order_once() -> None:
    program, _ = programs.rows("bf16")["order"]
    lowered = lower(normalize_to_module(program), CudaTarget("nvidia.h200_sxm"))
    bodies = [tir.items_within(tir.unfold(fn.body)) for fn in lowered.functions if isinstance(fn, tir.PrimFunction)]
    orders = [
        sum(isinstance(item, tir.Evaluate) and isinstance(item.callable, tir.TopK) for item in body) for body in bodies
    ]
    assert sum(orders) == 4  # of 5 columns, values and places have kernels of their own


def test_a_call_is_decided_by_the_extent_of_the_argument() -> None:
    kernel = compiled(programs.Ranges)
    for rows, factor in ((3, 2.0), (4, 3.0), (7, 3.0)):
        x = torch.arange(rows * 16.0).view(rows, 16)
        assert torch.equal(kernel(x), (x + 1.0) * factor - x)


@pytest.mark.parametrize(
    ("program", "words", "remedy"),
    [
        (
            programs.long_rows,
            r"rows of 20000 elements \(axis 1, 20000\) are too long",
            "let the axis have at most 16384 elements, by its extent or by the bound of its DimVar",
        ),
        (programs.unknown_times, r"the loop over '_i' runs as range\(0, M, 1\)", "write numbers, as in range(12)"),
        (programs.many_times, "becomes 1 calls in each of 5000 iterations", "by ops on whole tensors"),
    ],
)
def test_a_refusal_speaks_of_what_the_author_wrote(program: Any, words: str, remedy: str) -> None:
    with pytest.raises(VerifyError, match=words) as refusal:
        lower(normalize_to_module(program), CudaTarget("nvidia.h200_sxm"))
    assert remedy in str(refusal.value.remedy)
