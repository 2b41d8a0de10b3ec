"""From source to IR: what the front end makes of programs."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import math
from pathlib import Path

from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.dsl.tf import exp
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, SourceSpanMetadata, binding_name, get_metadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import dim_add, dim_min
from tilefoundry.ir.hir import (
    Binary,
    BinaryKind,
    GridRegionExpr,
    InsertSlice,
    Reduce,
    Reshard,
    Slice,
)
from tilefoundry.ir.shard import Broadcast, ShardLayout, Split
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

N = DimVar("N", 1, 1 << 20)
SCALE, WIDTH, DTYPE = 0.5, 32, "f32"


def body(function: object) -> Expr:
    assert isinstance(function, Function)
    assert function.body is not None
    return function.body


def call(expr: object, op: type) -> Call:
    assert isinstance(expr, Call)
    assert isinstance(expr.target, op), expr.target
    return expr


# -- the examples of the surface


def test_scale_rows() -> None:
    @module(entry="scale_rows", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 64),))
    class ScaleRows:
        @func
        def scale_rows(x: Tensor[(64, 256), "f32"]) -> Tensor[(64, 256), "f32"]:
            with Mesh(("cta",), (64,), ("r",)) as cta:
                reg = tf.reshard(x, (64 @ cta.r, 256), "rmem")
                return tf.reshard(reg * reg, (64 @ cta.r, 256), "gmem")

    assert isinstance(ScaleRows, Module)
    assert ScaleRows.entry == "scale_rows"
    out = call(body(ScaleRows.entry_function()), Reshard)
    product = call(out.args[0], Binary)
    register = call(product.args[0], Reshard)
    assert product.args[1] is register
    assert binding_name(register) == "reg"
    assert isinstance(register.type, TensorType)
    layout = register.type.layout
    assert isinstance(layout, ShardLayout)
    assert (layout.shape, layout.attrs, layout.layout.strides) == ((64, 256), (Split(0),), (0, 1))
    assert register.type.storage is StorageKind.RMEM
    domain = get_metadata(register, ExecutionDomainMetadata)
    assert domain is not None
    assert [mesh.names for mesh in domain.scopes] == [("r",)]


def test_row_mean() -> None:
    @func(topologies=(Topology("thread", 8 * 32),))
    def row_mean(x: Tensor[(1, 2048), "f32"]) -> Tensor[(1, 1), "f32"]:
        with Mesh(("thread",), (8, 32), ("w", "l")) as m:
            r = tf.reshard(x, (1, 2048 @ (m.w, m.l)), "rmem")
            return tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.MEAN), (1, 1), "gmem")

    assert isinstance(row_mean, Module)
    assert row_mean.entry == "row_mean"
    mean = call(call(body(row_mean.entry_function()), Reshard).args[0], Reduce)
    assert isinstance(mean.type, TensorType)
    assert mean.type.shape == (1, 1)
    source = mean.args[0]
    assert isinstance(source, Call)
    assert isinstance(source.type, TensorType)
    assert isinstance(source.type.layout, ShardLayout)
    assert source.type.layout.shape == (1, 8, 32, 8)
    assert isinstance(mean.type.layout, ShardLayout)
    assert mean.type.layout.attrs == (Broadcast(), Broadcast())


def test_layouts_in_types() -> None:
    @func(topologies=(Topology("thread", 128),))
    def f(x: Tensor[(8, 4), "f32", ((8, 4), (1, 8))], y: Tensor[(8, 4), "f32", (8, 4)]) -> Tensor[(8, 4), "f32"]:
        with Mesh(("thread",), (4, 32), ("w", "l")) as t:
            z = tf.zeros(Tensor[(8 @ t.w, 4), "f32", "rmem"])
            return tf.reshard(z, (8 @ t.w, 4), "gmem")

    function = f.entry_function()
    layouts = [p.type.layout for p in function.params]
    assert [(la.shape, la.strides) for la in layouts] == [((8, 4), (1, 8)), ((8, 4), (4, 1))]
    zeros = call(body(function), Reshard).args[0]
    assert isinstance(zeros.type.layout, ShardLayout)
    assert (zeros.type.layout.shape, zeros.type.layout.layout.strides) == ((4, 2, 4), (0, 4, 1))
    assert zeros.type.layout.attrs == (Split(0), Broadcast())


# -- values


def test_spans_are_one_based_and_of_the_author() -> None:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        é = x
        return é + exp(x)

    total = body(f)
    span = get_metadata(total, SourceSpanMetadata)
    assert span is not None
    assert span.file == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[span.line - 1]
    assert line[span.column - 1 : span.end_column - 1] == "é + exp(x)"


def test_literals_adopt_the_dtype_of_their_peer() -> None:
    @func
    def f(x: Tensor[(8,), "bf16"], n: Tensor[(8,), "i32"]) -> Tensor[(8,), "bf16"]:
        even = n % 2 == 0
        return tf.where(even, x * SCALE, -math.inf)

    where = body(f)
    assert isinstance(where, Call)
    literals = [a for a in (where.args[2], call(where.args[1], Binary).args[1]) if isinstance(a, Constant)]
    assert [(c.value, c.type.dtype) for c in literals] == [(-math.inf, DType.bf16), (0.5, DType.bf16)]  # type: ignore[attr-defined]
    two = call(call(where.args[0], Binary).args[0], Binary).args[1]
    assert isinstance(two, Constant)
    assert two.type.dtype is DType.i32  # type: ignore[attr-defined]


def test_literals_alone_are_f32() -> None:
    @func
    def f(x: Tensor[(8,), "bf16"]) -> Tensor[(8,), "f32"]:
        return tf.where(x > 0.0, 1.0, 0.0)

    where = body(f)
    assert isinstance(where, Call)
    assert [a.type.dtype for a in where.args[1:]] == [DType.f32, DType.f32]


def test_slices_of_a_mesh() -> None:
    @func(topologies=(Topology("thread", 128),))
    def f(x: Tensor[(2, 32), "f32"]) -> Tensor[(2, 32), "f32"]:
        with Mesh(("thread",), (4, 32), ("w", "l"))[2:4] as half:
            return tf.reshard(tf.reshard(x, (2 @ half.w, 32 @ half.l), "rmem"), (2, 32), "gmem")

    inner = call(call(body(f.entry_function()), Reshard).args[0], Reshard)
    assert inner.type.layout.mesh.shape == (2, 32)


def test_compile_time_conditions_choose_what_is_parsed() -> None:
    def build(flag: bool, mode: str | None) -> Expr:
        @func
        def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            """A docstring is no statement."""
            if flag and mode is None:
                return x + x
            y = x * x if mode in ("a", "b") else x - undefined
            if not flag:
                y = y + 1.0
            return y

        return body(f)

    assert call(build(True, None), Binary).target == Binary(BinaryKind.ADD)
    assert call(build(True, "a"), Binary).target == Binary(BinaryKind.MUL)
    assert call(build(False, "b"), Binary).target == Binary(BinaryKind.ADD)


def test_closures_resolve_as_python_resolves_them() -> None:
    SCALE = 3.0  # hides the global

    def make() -> Function:
        @func
        def f(x: Tensor[(8,), DTYPE]) -> Tensor[(8,), "f32"]:
            return x * SCALE + later

        return f

    later = 4.0
    total = call(body(make()), Binary)
    assert isinstance(total.args[1], Constant)
    assert total.args[1].value == 4.0
    product = call(total.args[0], Binary)
    assert isinstance(product.args[1], Constant)
    assert product.args[1].value == 3.0


def test_postponed_annotations() -> None:
    scope: dict[str, object] = {}
    from tilefoundry.python.testing import load_program

    scope = load_program(
        """
        from __future__ import annotations
        def make(width):
            @func
            def f(x: Tensor[(width, N), "f32"], w: ConstTensor[(N,), "f32"]) -> Tensor[(width, N), "f32"]:
                return x + w
            return f
        f = make(7)
        """
    )
    function = scope["f"]
    assert isinstance(function, Function)
    assert [p.is_const for p in function.params] == [False, True]
    assert isinstance(function.return_type, TensorType)
    assert function.return_type.shape[0] == 7


def test_annotations_see_enclosing_names_rather_than_locals_or_globals() -> None:
    from tilefoundry.python.testing import load_program

    scope = load_program(
        """
        from __future__ import annotations
        width = 3
        def make(width):
            class Shapes:
                rows = 5
                @func
                def unused(x: Tensor[(1,), "f32"]) -> Tensor[(1,), "f32"]:
                    return x
            @func
            def f(M: Tensor[(M, width), "f32"], width: Tensor[(width,), "f32"]) -> Tensor[(M, width), "f32"]:
                return M + width
            return f
        f = make(7)
        """
    )
    function = scope["f"]
    assert isinstance(function, Function)
    assert [p.type.shape for p in function.params] == [(scope_m(), 7), (7,)]


def scope_m() -> Expr:
    return DimVar("M", 1, 1 << 20)


def test_extents_are_index_arithmetic() -> None:
    @func
    def f(x: Tensor[(N, WIDTH * 2), "f32"]) -> Tensor[(N, 64), "f32"]:
        half = (N + 1) // 2
        assert_free = x[0 : min(half, N)]
        y = tf.reshape(x, (N, 8, math.prod((2, 4))))
        z = tf.reshape(y, (x.shape[0], 64))
        return z + tf.reduce(assert_free, (0,), True, ReduceKind.SUM)

    mean = call(call(body(f), Binary).args[1], Reduce)
    part = call(mean.args[0], Slice)
    assert isinstance(part.target, Slice)
    expected = dim_min((N + 1) // 2, N)  # type: ignore[operator]
    assert part.target.sizes == (expected, 64)


def test_tuples() -> None:
    @func
    def f(x: Tensor[(8,), "f32"]) -> tuple[Tensor[(8,), "f32"], Tensor[(8,), "bool"]]:
        a, (b, c) = x, (x + x, x > 0.0)
        d = e = b * a
        return d + e, c

    result = body(f)
    assert isinstance(result, Tuple)
    assert isinstance(f.return_type, TupleType)  # type: ignore[union-attr]
    product = call(call(result.elements[0], Binary).args[0], Binary)
    assert call(result.elements[0], Binary).args == (product, product)


# -- subscripts


def test_subscripts() -> None:
    @func
    def f(x: Tensor[(N, 8, 16, 4), "f32"]) -> Tensor[(4, 16), "f32"]:
        return x[-1, 2:-2, :, 3]

    part = call(body(f), Slice)
    assert part.target == Slice((1, 4, 16, 1), (1, 1, 1, 1), (0, 3), ("error",) * 4)
    assert part.args[1] == Tuple((dim_add(N, -1), 2, 0, 3))


def test_subscripts_with_ellipsis_and_steps() -> None:
    @func
    def f(x: Tensor[(9, 8, 16), "f32"]) -> Tensor[(4, 8), "f32"]:
        return x[1:9:2, ..., 5]

    part = call(body(f), Slice)
    assert part.target == Slice((4, 8, 1), (2, 1, 1), (2,), ("error",) * 3)


def test_windows_of_a_tile_loop() -> None:
    @func
    def f(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        out = tf.zeros(Tensor[(N, 64), "f32"])
        for i in tile(N, 16):
            for r in range(1, 64, 3):
                out = tf.insert_slice(out, x[i, r] + x[i + 8, r], (i, r))
        return out

    outer = body(f)
    assert isinstance(outer, GridRegionExpr)
    assert (outer.extent, outer.step, outer.start, outer.spread) == (N, 16, 0, None)
    inner = outer.yield_values[0]
    assert isinstance(inner, GridRegionExpr)
    assert (inner.extent, inner.step, inner.start) == (64, 3, 1)
    assert inner.init_args == outer.carried_args
    insert = call(inner.yield_values[0], InsertSlice)
    assert insert.target == InsertSlice((16, 1), ("clip", "error"))
    assert insert.args[2] == Tuple((outer.induction_var, inner.induction_var))
    moved = call(call(insert.args[1], Binary).args[1], Slice)
    assert moved.target == Slice((16, 1), (1, 1), (1,), ("zero", "error"))
    assert moved.args[1] == Tuple((dim_add(outer.induction_var, 8), inner.induction_var))


def test_insert_slice_into_the_axes_that_the_update_lacks() -> None:
    @func
    def f(x: Tensor[(4, 32, 3, 8), "f32"]) -> Tensor[(4, 32, 3, 8), "f32"]:
        out = x
        for b in range(4):
            for i in tile(32, 8):
                out = tf.insert_slice(out, x[b, i, 1], (b, i, 2, 0))
        return out

    outer = body(f)
    assert isinstance(outer, GridRegionExpr)
    inner = outer.yield_values[0]
    assert isinstance(inner, GridRegionExpr)
    assert call(inner.yield_values[0], InsertSlice).target == InsertSlice(
        (1, 8, 1, 8), ("error", "clip", "error", "error")
    )
