"""Compositions of reductions, moves and numbers of global tensors: many axes, few elements, none, and small dtypes."""

from __future__ import annotations

import pytest
import torch

from tests.compiler.running import compare
from tests.compiler.tiled import L, Tiled, W, m, of, program
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import (
    Arange,
    ArgMin,
    Binary,
    BinaryKind,
    Cast,
    Concat,
    CumSum,
    Expand,
    LayerNorm,
    Reduce,
    ReduceKind,
    Slice,
    Softmax,
    Sort,
    Stack,
    TopK,
    Transpose,
    TupleGetItem,
    Unary,
    UnaryKind,
    Where,
    Zeros,
)
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.runtime import AllClose, Equal, Predicate

M = DimVar("M", 1, 1 << 20)


def call(op: Op, *args: Expr) -> Call:
    return Call(op, args)


def unary(kind: UnaryKind, x: Expr) -> Call:
    return call(Unary(kind), x)


def binary(kind: BinaryKind, x: Expr, y: Expr) -> Call:
    return call(Binary(kind), x, y)


def reduce(kind: ReduceKind, x: Expr, axes: tuple[int, ...], keepdim: bool = False) -> Call:
    return call(Reduce(axes, keepdim, kind), x)


def five_axes() -> Module:
    def build(x: Expr) -> list[Tiled]:
        return [
            Tiled(call(Softmax(1), x), ((), m(2), (), (), m(L))),
            Tiled(reduce(ReduceKind.SUM, x, (0, 1, 3)), ((), m(L))),
            Tiled(call(Softmax(-2), x), ((), m(W), m(3), (), m(L))),
        ]

    return program([of((2, M, 3, 1, 40), "f16")], build)


def small_integers() -> Module:
    def build(x: Expr, y: Expr) -> list[Tiled]:
        return [
            Tiled(reduce(ReduceKind.SUM, x, (1,)), (m(W),)),
            Tiled(reduce(ReduceKind.MAX, unary(UnaryKind.NEG, x), (0,)), (m(L),)),
            Tiled(call(CumSum(1), x), (m(W), m(L))),
            Tiled(reduce(ReduceKind.PROD, y, (1,)), (m(W, L),)),
            Tiled(call(ArgMin(1), y), (m(L),)),
            Tiled(call(TupleGetItem(1), call(Sort(1), y)), (m(W), ())),
        ]

    return program([of((M, 40), "i8"), of((M, 1), "i64")], build)


def numbers() -> Module:
    """Numbers that are computed of whole tensors: in arithmetic, beside tensors, stacked, repeated; and no elements."""

    def build(x: Expr, flag: Expr, nothing: Expr) -> list[Tiled]:
        most = reduce(ReduceKind.MAX, x, (0, 1))
        total = reduce(ReduceKind.SUM, unary(UnaryKind.ABS, x), (0, 1))
        ratio = binary(BinaryKind.DIV, unary(UnaryKind.EXP, most), total)
        element = call(Slice((1, 1), (), (0, 1)), unary(UnaryKind.EXP, x), Tuple((0, 3)))
        ramp = call(Arange(make_tensor_type((100,), "i32")))
        squares = call(Cast("f32"), binary(BinaryKind.MUL, ramp, ramp))
        return [
            Tiled(ratio, ()),
            Tiled(binary(BinaryKind.SUB, x, ratio), (m(W), m(L))),
            Tiled(call(Stack(0), most, total, ratio), (m(4),)),
            Tiled(call(Expand((5, 7)), ratio), (m(5), m(8))),
            Tiled(binary(BinaryKind.MUL, x, element), (m(W), m(L))),
            Tiled(call(Where(), flag, x, unary(UnaryKind.NEG, x)), (m(W), m(L))),
            Tiled(reduce(ReduceKind.SUM, squares, (0,)), ()),
            Tiled(binary(BinaryKind.ADD, call(Zeros(of((100,), "f32"))), squares), (m(L),)),
            Tiled(reduce(ReduceKind.MAX, nothing, (1,), True), (m(L), ())),
        ]

    return program([of((M, 40), "f32"), of((), "bool"), of((M, 0), "f32")], build)


def of_each_other() -> Module:
    """Moves of reductions, norms of moves, and the order of norms."""

    def build(x: Expr, y: Expr, weight: Expr) -> list[Tiled]:
        joined = call(Concat(1), x, unary(UnaryKind.NEG, y), reduce(ReduceKind.SUM, y, (1,), True))
        first = call(TupleGetItem(0), call(TopK(4, -1), call(Softmax(-1), y)))
        return [
            Tiled(call(Softmax(1), joined), (m(W), m(L, 2))),
            Tiled(call(Transpose((1, 0)), call(Softmax(0), joined)), (m(L, 2), m(W))),
            Tiled(binary(BinaryKind.DIV, first, reduce(ReduceKind.SUM, first, (-1,), True)), (m(W), m(4))),
            Tiled(call(LayerNorm(0, 1e-5), weight, weight, weight), (m(W), m(L, 2))),
        ]

    return program([of((M, 3), "f32"), of((M, 64), "f32"), of((4, 40), "f32")], build)


def inputs_of_numbers() -> list[torch.Tensor]:
    return [torch.randn(13, 40), torch.tensor(False), torch.empty(13, 0)]


CASES: list[tuple[Module, list[torch.Tensor], Predicate]] = [
    (five_axes(), [torch.randn(2, 5, 3, 1, 40).half()], AllClose(4e-3, 2e-3)),
    (small_integers(), [torch.randint(-9, 9, (13, 40), dtype=torch.int8), torch.randint(-9, 9, (13, 1))], Equal()),
    (numbers(), inputs_of_numbers(), AllClose(1e-5, 1e-5)),
    (of_each_other(), [torch.randn(13, 3), torch.randn(13, 64), torch.randn(4, 40)], AllClose(1e-5, 1e-5)),
]


@pytest.mark.parametrize(
    ("module", "inputs", "bound"), CASES, ids=["five axes", "small integers", "numbers", "of each other"]
)
def test_compositions(module: Module, inputs: list[torch.Tensor], bound: Predicate) -> None:
    compare(module, *inputs, bounds=[bound])
