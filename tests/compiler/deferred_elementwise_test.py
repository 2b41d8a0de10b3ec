"""Elementwise ops and moves of global tensors, of whose values tiles are computed in registers."""

from __future__ import annotations

import pytest
import torch

from tests.compiler.running import compare
from tests.compiler.tiled import THREADS, L, Tiled, W, m, of, program
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import DimVar, dim_sub
from tilefoundry.ir.hir import (
    Arange,
    Binary,
    BinaryKind,
    Cast,
    Clamp,
    Concat,
    Expand,
    Flip,
    FullLike,
    Gather,
    Gelu,
    IndexSelect,
    InsertSlice,
    Pad,
    Reduce,
    ReduceKind,
    RepeatInterleave,
    Reshape,
    Reshard,
    Silu,
    Slice,
    Softplus,
    SplitParts,
    Squeeze,
    Stack,
    Transpose,
    TupleGetItem,
    Unary,
    UnaryKind,
    Unsqueeze,
    Where,
)
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import StorageKind, make_tensor_type
from tilefoundry.passes import lower
from tilefoundry.passes.lower.fragments import spread_over
from tilefoundry.runtime import AllClose, Equal

M = DimVar("M", 1, 1 << 20)
ROWS = (m(W, 2), m(L, 2))  # 8 rows of 64 columns
FLAT = (m(2), m(W, L))


def call(op: object, *args: Expr) -> Call:
    return Call(op, args)


def unary(kind: UnaryKind, x: Expr) -> Call:
    return call(Unary(kind), x)


def binary(kind: BinaryKind, x: Expr, y: Expr) -> Call:
    return call(Binary(kind), x, y)


def arithmetic(dtype: str) -> Module:
    """Compositions whose operands broadcast: rows, columns and numbers."""

    def build(x: Expr, row: Expr, column: Expr, number: Expr) -> list[Tiled]:
        y = binary(BinaryKind.ADD, binary(BinaryKind.MUL, x, number), row)
        z = call(Gelu(), binary(BinaryKind.SUB, y, column))
        keeps = binary(BinaryKind.GT, x, column)
        chosen = call(Where(), keeps, call(Silu(), x), call(Softplus(), y))
        return [
            Tiled(z, ROWS),
            Tiled(binary(BinaryKind.MUL, z, z), FLAT),
            Tiled(call(Cast("f32"), call(Clamp(-0.5, 0.75), chosen)), ROWS),
            Tiled(binary(BinaryKind.ADD, row, row), (m(W, L),)),
            Tiled(call(Where(), keeps, call(FullLike(2.0), x), x), ROWS),
        ]

    return program([of((M, 70), dtype), of((70,), dtype), of((M, 1), dtype), of((), dtype)], build)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=["f32", "bf16", "f64"])
def test_arithmetic(dtype: torch.dtype) -> None:
    name = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float64: "f64"}[dtype]
    bound = {torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float64: 1e-6}[dtype]
    torch.manual_seed(0)
    for rows in (13,) if name != "f32" else (1, 13, 32):
        inputs = [torch.randn(shape).to(dtype) for shape in ((rows, 70), (70,), (rows, 1), ())]
        compare(arithmetic(name), *inputs, bounds=[AllClose(bound, bound)])


def moves() -> Module:
    """Values that are computed, and then moved: a window of each comes from windows of its operands."""

    def build(x: Expr, y: Expr, index: Expr, each: Expr) -> list[Tiled]:
        e, n = unary(UnaryKind.ABS, x), unary(UnaryKind.NEG, y)
        ramp = call(Arange(make_tensor_type((70,), "i64")))
        part = call(SplitParts(-1, 2), e)
        head = call(Slice((M, 9), (1, 1), (), ("error", "error")), e, Tuple((0, 3)))
        return [
            Tiled(unary(UnaryKind.NEG, call(Transpose((1, 0)), e)), (m(2, L), m(W, 2))),
            Tiled(binary(BinaryKind.MUL, call(Concat(0), e, n, e), call(Concat(0), n, n, n)), ROWS),
            Tiled(call(Concat(1), x, unary(UnaryKind.NEG, x)), ROWS),
            Tiled(call(Stack(1), e, n), (m(W, 2), (), m(L, 2))),
            Tiled(unary(UnaryKind.SQUARE, call(Pad((2, 3, 1, 0), 0.5), e)), ROWS),
            Tiled(unary(UnaryKind.NEG, call(Flip((0, 1)), x)), ROWS),
            Tiled(call(Squeeze(1), call(Unsqueeze(1), e)), ROWS),
            Tiled(call(Expand((3, M, 70)), call(Unsqueeze(0), e)), ((), m(W, 2), m(L, 2))),
            Tiled(unary(UnaryKind.NEG, call(IndexSelect(0), x, index)), ROWS),
            Tiled(binary(BinaryKind.ADD, call(Gather(1), x, each), call(Gather(1), x, each)), (m(W, 2), m(L))),
            Tiled(binary(BinaryKind.ADD, call(TupleGetItem(1), part), call(TupleGetItem(0), part)), (m(W), m(L))),
            Tiled(binary(BinaryKind.ADD, head, head), (m(W, 2), m(L))),
            Tiled(binary(BinaryKind.MUL, ramp, ramp), (m(W, L),)),
            Tiled(call(Flip((0,)), e), ROWS),
            Tiled(call(RepeatInterleave(3, 0), e), ROWS),
            Tiled(call(RepeatInterleave(2, 1), x), (m(W), m(L, 4))),
        ]

    shapes = [of((M, 70), "f32"), of((M, 70), "f32"), of((21,), "i64"), of((M, 30), "i32")]
    return program(shapes, build)


def test_moves() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(13, 70), torch.randn(13, 70)
    index, each = torch.randint(0, 13, (21,)), torch.randint(0, 70, (13, 30), dtype=torch.int32)
    compare(moves(), x, y, index, each, bounds=[Equal()])


def updates() -> Module:
    """Copies of a global tensor with a window overwritten: at numbers, at places that the launch knows, over an end."""

    def build(x: Expr, u: Expr, row: Expr, at: Expr) -> list[Tiled]:
        inside = call(InsertSlice((3, 8)), x, u, Tuple((2, 5)))
        clipped = call(InsertSlice((3, 8), ("clip", "clip")), x, u, Tuple((dim_sub(M, 1), 66)))
        one = call(InsertSlice((1, 70)), x, row, Tuple((at, 0)))
        return [Tiled(inside, None), Tiled(clipped, None), Tiled(one, None)]

    return program([of((M, 70), "f32"), of((3, 8), "f32"), of((70,), "f32"), of((), "i32")], build)


def test_updates() -> None:
    torch.manual_seed(0)
    x, u, row = torch.randn(13, 70), torch.randn(3, 8), torch.randn(70)
    compare(updates(), x, u, row, torch.tensor(7, dtype=torch.int32), bounds=[Equal()])


def sums_of_a_window() -> Module:
    """A window that its author cut of a computed value, and added up with the zeros beyond it."""

    def build(x: Expr) -> list[Tiled]:
        window = call(Slice((8, 40), (1, 1), (), ("zero", "error")), unary(UnaryKind.EXP, x), Tuple((0, 0)))
        tile = call(Reshard(spread_over(THREADS, m(W, 2), m(40)), StorageKind.RMEM), window)
        total = call(Reduce((0,), True, ReduceKind.SUM), tile)
        return [Tiled(call(Reshard(Layout((1, 40)), StorageKind.GMEM), total), None)]

    return program([of((5, 40), "f32")], build)


def test_what_lies_beyond_a_window_is_zero() -> None:
    torch.manual_seed(0)
    compare(sums_of_a_window(), torch.randn(5, 40), bounds=[AllClose(2e-6, 2e-6)])


def reshapes() -> Module:
    """Axes that are split and merged, where a window of one shape is a window of the other."""

    def build(x: Expr) -> list[Tiled]:
        e = unary(UnaryKind.ABS, x)
        heads = call(Reshape((M, 3, 4, 32)), e)
        turned = call(Transpose((0, 2, 1, 3)), unary(UnaryKind.NEG, heads))
        return [
            Tiled(heads, (m(W), (), (), m(L))),
            Tiled(turned, (m(W), (), (), m(L))),
            Tiled(call(Reshape((M, 384)), unary(UnaryKind.NEG, heads)), (m(W), m(L))),
            Tiled(call(Reshape((M, 12, 32)), heads), (m(W), m(2), m(L))),
            Tiled(call(Reshape((M, 1, 384)), e), (m(W), (), m(L))),
        ]

    return program([of((M, 384), "f32")], build)


def test_reshapes() -> None:
    torch.manual_seed(0)
    compare(reshapes(), torch.randn(13, 384), bounds=[Equal()])


def test_deep_compositions() -> None:
    def build(x: Expr) -> list[Tiled]:
        for _ in range(300):
            x = unary(UnaryKind.NEG, x)
        return [Tiled(x, ROWS)]

    lower(program([of((M, 70), "f32")], build))
