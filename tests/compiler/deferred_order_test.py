"""Ops on whole rows of global tensors, computed tile by tile: running sums, order, and quantisation by groups."""

from __future__ import annotations

import math

import pytest
import torch

from tests.compiler.running import compare
from tests.compiler.tiled import ALONE, THREADS, L, Tiled, W, m, of, program
from tilefoundry import VerifyError
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import CumSum, Quant, Sort, TopK, TupleGetItem, Unary, UnaryKind
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.passes import lower
from tilefoundry.passes.lower.fragments import row_modes
from tilefoundry.runtime import AllClose, Equal

M, N = DimVar("M", 1, 65), DimVar("N", 1, 513)
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64, "i32": torch.int32}


def part(k: int, call: Call) -> Call:
    return Call(TupleGetItem(k), (call,))


def sums(dtype: str, mesh: Mesh = THREADS) -> Module:
    """Along rows and columns, whole and in parts, of what is read and of what is computed."""

    def build(x: Expr) -> list[Tiled]:
        y = Call(Unary(UnaryKind.NEG), (x,))
        return [
            Tiled(Call(CumSum(-1), (x,)), (m(W), m(L, 3))),
            Tiled(Call(CumSum(1), (y,)), (m(W, L), m(8))),
            Tiled(Call(CumSum(0), (y,)), (m(5), m(W, L))),
        ]

    return program([of((M, N), dtype)], build, mesh)


@pytest.mark.parametrize(("dtype", "mesh"), [("f32", THREADS), ("f32", ALONE), ("bf16", THREADS), ("i32", THREADS)])
def test_sums(dtype: str, mesh: Mesh) -> None:
    torch.manual_seed(0)
    x = torch.randint(-99, 99, (13, 300)).to(TORCH[dtype])
    bound = {"f32": AllClose(1e-6, 1e-3), "bf16": AllClose(1e-2, 2.0), "i32": Equal()}[dtype]
    compare(sums(dtype, mesh), x, bounds=[bound])


def ordered(dtype: str, columns: object, mesh: Mesh = THREADS) -> Module:
    extent = columns if isinstance(columns, int) else 512
    whole = row_modes(THREADS, [m(2)], extent)

    def build(x: Expr) -> list[Tiled]:
        y = Call(Unary(UnaryKind.NEG), (x,))
        ascending, most = Call(Sort(-1, False), (x,)), Call(TopK(7, 1, True, True), (y,))
        least = Call(TopK(5, 0, False, True), (x,))
        return [
            Tiled(part(0, ascending), (m(2), whole)),
            Tiled(part(1, ascending), (m(2), whole)),
            Tiled(part(1, Call(Sort(1, True), (y,))), (m(2), m(L, 4))),
            Tiled(part(0, most), (m(W), m(8))),
            Tiled(part(1, most), (m(W), m(L))),
            Tiled(part(1, least), (m(5), m(L))),
        ]

    return program([of((M, columns), dtype)], build, mesh)


@pytest.mark.parametrize(
    ("dtype", "columns", "mesh"), [("f32", N, THREADS), ("f32", 100, ALONE), ("i32", 100, THREADS)]
)
def test_order(dtype: str, columns: object, mesh: Mesh) -> None:
    torch.manual_seed(0)
    x = torch.randint(-20, 20, (13, 100)).to(TORCH[dtype])
    if dtype == "f32":
        x[3, 50] = x[3, 17] = math.nan
        x[5, :30] = -math.inf
        x[6, 30:] = math.inf
    # NaNs are NaNs, whatever bits a target keeps of them
    compare(ordered(dtype, columns, mesh), x, bounds=[AllClose(0.0, 0.0, equal_nan=True)])


def test_rows_that_registers_cannot_hold_are_refused() -> None:
    def build(x: Expr) -> list[Tiled]:
        return [Tiled(part(0, Call(Sort(-1, False), (x,))), ((), m(W, L)))]

    with pytest.raises(VerifyError, match=r"rows of 20000 elements \(axis 1, 20000\) are too long") as refusal:
        lower(program([of((M, 20000), "f32")], build))
    assert "the axis have at most 16384 elements" in str(refusal.value.remedy)


def quantised(group: int, tile: tuple) -> Module:
    def build(x: Expr) -> list[Tiled]:
        both = Call(Quant(group=group), (Call(Unary(UnaryKind.NEG), (x,)),))
        return [Tiled(part(0, both), (m(W), tile)), Tiled(part(1, both), (m(W), m(L)))]

    return program([of((M, 384), "f32")], build)


@pytest.mark.parametrize(("group", "tile"), [(128, m(L, 4)), (16, m(L, 4))])
def test_groups(group: int, tile: tuple) -> None:
    torch.manual_seed(0)
    compare(quantised(group, tile), torch.randn(9, 384), bounds=[AllClose(1e-6, 0.26)])


def test_parts_of_rows_are_read_where_the_rows_lie() -> None:
    for module in (quantised(128, m(L)), ordered("f32", N, THREADS)):
        assert "_wide" not in canonical_module_text(lower(module))
