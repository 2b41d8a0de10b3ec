"""From source to IR: loops, calls between functions, and modules."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest

from tilefoundry.dsl import ConstTensor, DimVar, Mesh, Tensor, Topology, tf, tile
from tilefoundry.dsl.tf import exp
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import DimVar as DimVarClass
from tilefoundry.ir.hir import (
    Binary,
    BinaryKind,
    Cast,
    GridRegionExpr,
    InsertSlice,
    MatMul,
    Slice,
    TupleGetItem,
)
from tilefoundry.ir.shard import MeshAxis
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python import func, module

N = DimVar("N", 1, 1 << 20)


def body(function: object) -> Expr:
    assert isinstance(function, Function)
    assert function.body is not None
    return function.body


def call(expr: object, op: type) -> Call:
    assert isinstance(expr, Call)
    assert isinstance(expr.target, op), expr.target
    return expr


# -- loops


def test_carries_are_what_a_loop_rebinds() -> None:
    @func
    def f(x: Tensor[(64, 8), "f32"]) -> Tensor[(8,), "f32"]:
        total, peak, same = x[0], x[0], x[0]
        for i in range(1, 64):
            row = x[i] * 2.0
            row = row + same
            total = total + row
            peak = tf.maximum(peak, row)
            same = same
        return total / peak

    quotient = call(body(f), Binary)
    parts = [call(a, TupleGetItem) for a in quotient.args]
    assert [binding_name(p) for p in parts] == ["total", "peak"]
    loop = parts[0].args[0]
    assert isinstance(loop, GridRegionExpr)
    assert parts[1].args[0] is loop
    assert [v.name for v in loop.carried_args] == ["total", "peak"]
    addition = call(loop.yield_values[0], Binary)
    row = call(addition.args[1], Binary)
    assert row.args[1] == loop.init_args[0]  # 'same' never changes: it is its initial value
    assert call(loop.yield_values[1], Binary).args[1] is row  # and what both carries read is still one value


def test_a_loop_spread_over_a_mesh_axis() -> None:
    @func(topologies=(Topology("cta", 8),))
    def f(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (8,), ("c",)) as cta:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in tile(N, 16) @ cta.c:
                out = tf.insert_slice(out, exp(x[i]), (i, 0))
            return out

    loop = body(f.entry_function())  # type: ignore[union-attr]
    assert isinstance(loop, GridRegionExpr)
    assert isinstance(loop.spread, MeshAxis)
    assert loop.spread.name == "c"


# -- functions and modules


def test_calls_are_inlined_under_the_arguments_types() -> None:
    K = DimVar("K", 1, 1 << 20)

    @module(entry="top")
    class Program:
        @func
        def top(x: Tensor[(4, N), "bf16"], w: ConstTensor[(N,), "bf16"]) -> Tensor[(4, N), "f32"]:
            return scaled(wide(x), wide(tf.reshape(w, (1, N))))

        @func
        def scaled(a: Tensor[(4, K), "f32"], b: Tensor[(1, K), "f32"]) -> Tensor[(4, K), "f32"]:
            y = tf.zeros(Tensor[(4, K), "f32"])
            for i in range(4):
                y = tf.insert_slice(y, a[i] * b[0], (i, 0))
            return y

        @func
        def wide(a: Tensor[(DimVar("R", 1, 9), K), "bf16"]) -> Tensor[(DimVar("R", 1, 9), K), "f32"]:
            return tf.cast(a, "f32")

    assert isinstance(Program, Module)
    assert [f.name for f in Program.functions] == ["top", "scaled", "wide"]
    assert list(Program.weights) == ["w"]
    loop = body(Program.entry_function())
    assert isinstance(loop, GridRegionExpr)
    assert loop.type == TensorType((4, N), DType.f32)  # K became N, also in the attribute of zeros
    product = call(call(loop.yield_values[0], InsertSlice).args[1], Binary)
    assert call(call(product.args[0], Slice).args[0], Cast).args == (Program.entry_function().params[0],)  # type: ignore[attr-defined]


def test_children_and_methods() -> None:
    @func(topologies=())
    def inner(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x + x

    @module(entry="run")
    class Outer:
        proj = inner

        @func
        def run(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            return x * x

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.run(x)

    assert isinstance(Outer, Module)
    assert [m.name for m in Outer.modules] == ["proj"]
    assert list(Outer.methods) == ["forward"]


def test_matrix_product_and_logic() -> None:
    @func
    def f(x: Tensor[(8, 4), "f16"], w: Tensor[(4, 2), "f16"]) -> Tensor[(8, 2), "f32"]:
        y = x @ w
        keep = y > 0.0 and not (y <= 1.0)
        return tf.where(keep, tf.matmul(x, w, out_dtype="f32"), 0.0)

    where = body(f)
    assert isinstance(where, Call)
    assert call(where.args[1], MatMul).target == MatMul(DType.f32)
    assert call(where.args[0], Binary).target == Binary(BinaryKind.AND)


def test_dim_vars_are_shared() -> None:
    assert DimVarClass is DimVar
    assert isinstance(Var("i", TensorType.umat_scalar()), Expr)


@pytest.mark.parametrize("depth", [4000])
def test_deep_programs_do_not_exhaust_the_stack(depth: int) -> None:
    from tilefoundry.python.testing import load_program

    lines = "\n".join("    x = x + 1.0" for _ in range(depth))
    scope = load_program(f"@func\ndef f(x: Tensor[(2,), 'f32']) -> Tensor[(2,), 'f32']:\n{lines}\n    return x\n")
    function = scope["f"]
    assert isinstance(function, Function)
    count, node = 0, function.body
    while isinstance(node, Call):
        count, node = count + 1, node.args[0]
    assert count == depth
