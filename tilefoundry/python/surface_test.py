"""Every sentence about the front end that the surface states: programs that use it, and what they become.

What the same sentences refuse is in the tables of refusals beside this file.
"""

from __future__ import annotations

import pytest

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import find_metadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.schedule import ScheduleConstraintMetadata
from tilefoundry.ir.hir import Binary, BinaryKind, MatMul, MeshCoordinate, Unary, UnaryKind
from tilefoundry.ir.shard import Broadcast, ComposedLayout, Layout, Partial, ShardLayout, Split
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType
from tilefoundry.python.testing import VECTOR, body_of, load_function, load_program

LEVELS = '(Topology("cta", 4), Topology("thread", 128))'


def placed(expression: str, mesh: str = '("thread",), (4, 32), ("w", "l")', params: str = "") -> Expr:
    """The value that a name gets inside of a mesh scope `t`, in a function of x of shape (8, 64)."""
    text = (
        f'@func(topologies={LEVELS})\ndef f(x: Tensor[(8, 64), "f32"]{params}) -> Tensor[(8, 64), "f32"]:\n'
        f"    with Mesh({mesh}) as t:\n        value = {expression}\n"
        '        return tf.reshard(value, (8, 64), "gmem")'
    )
    module = load_program(text)["f"]
    assert isinstance(module, Module)
    body = body_of(module.entry_function())
    assert isinstance(body, Call)
    value = body.args[0]
    assert isinstance(value, Expr)
    return value


def layout_of(value: Expr) -> ShardLayout:
    """The shard layout of a value."""
    assert isinstance(value.type, TensorType)
    assert isinstance(value.type.layout, ShardLayout)
    return value.type.layout


def op_of(value: Expr) -> object:
    """The op whose call a value is."""
    assert isinstance(value, Call)
    return value.target


# -- imports and decorators


def test_the_imports_that_programs_write() -> None:
    scope = load_program(
        """
        from tilefoundry.python import func, module, prim_func
        from tilefoundry.dsl import (
            Tensor, ConstTensor, tf, T, DimVar, DimVarRangePat, Mesh, Topology, S, P, B, Split, Partial, Broadcast,
            ceildiv, ReduceKind, UnaryKind, BinaryKind,
        )
        from tilefoundry.dsl.storage import gmem, smem, rmem, host, tmem, umat
        from tilefoundry.dsl.tf import *
        @func
        def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            return exp(x)
        """
    )
    assert op_of(body_of(scope["f"])) == Unary(UnaryKind.EXP)


@pytest.mark.parametrize("decorator", ["@func", "@func()"])
def test_func_gives_a_function(decorator: str) -> None:
    found = load_program(f"{decorator}\ndef f({VECTOR}) -> Tensor[(8,), 'f32']:\n    return x")["f"]
    assert isinstance(found, Function)


@pytest.mark.parametrize("context", ['target=CudaTarget("nvidia.h200_sxm")', "topologies=(CTA,)", "topologies=()"])
def test_func_with_a_context_gives_a_module_of_one_function(context: str) -> None:
    found = load_program(f"@func({context})\ndef f({VECTOR}) -> Tensor[(8,), 'f32']:\n    return x")["f"]
    assert isinstance(found, Module)
    assert (found.name, found.entry, [f.name for f in found.functions]) == ("f", "f", ["f"])
    assert (found.target is not None) == context.startswith("target")
    assert (found.topologies is not None) == context.startswith("topologies")


@pytest.mark.parametrize("decorator", ["@module", "@module()"])
def test_a_module_of_all_member_kinds(decorator: str) -> None:
    scope = load_program(
        f"""
        @func(topologies=())
        def inner(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            return x + x
        {decorator}
        class Program:
            '''Words.'''
            one = inner
            more = (inner.renamed("two"),)
            most = [inner.renamed("three")]
            @func
            def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
                return one(more[0](most[-1](x)))
            def forward(self, x):
                return self.f(x)
        """
    )
    found = scope["Program"]
    assert isinstance(found, Module)
    assert found.member_names() == ["f", "one", "two", "three", "forward"]
    assert (found.entry, found.target, found.topologies) == (None, None, None)


# -- annotations


@pytest.mark.parametrize(
    ("written", "shape", "dtype", "storage"),
    [
        ('Tensor[(4, 8), "f32"]', (4, 8), DType.f32, StorageKind.GMEM),
        ('Tensor[(4, 8), "f32", "smem"]', (4, 8), DType.f32, StorageKind.SMEM),
        ('Tensor[(4, 8), "f32", rmem]', (4, 8), DType.f32, StorageKind.RMEM),
        ('Tensor[(4, 8), "f32", None, "smem"]', (4, 8), DType.f32, StorageKind.SMEM),
        ('Tensor[(4, 8), "f32", (4, 8), "smem"]', (4, 8), DType.f32, StorageKind.SMEM),
        ('Tensor[(), "bf16"]', (), DType.bf16, StorageKind.GMEM),
        ('Tensor[(2 ** 3, max(3, 4) * 2 - 1), "i64"]', (8, 7), DType.i64, StorageKind.GMEM),
    ],
)
@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_the_slots_of_a_tensor(
    written: str, shape: tuple[int, ...], dtype: DType, storage: StorageKind, future: str
) -> None:
    found = load_function("return x", params=f"x: {written}", result=written, head=future).params[0].type
    assert isinstance(found, TensorType)
    assert (found.shape, found.dtype, found.storage) == (shape, dtype, storage)


@pytest.mark.parametrize(
    ("written", "layout"),
    [
        ("((4, 8), (1, 4))", Layout((4, 8), (1, 4))),
        ("(4, 8)", Layout((4, 8), (8, 1))),
        ("Layout((4, 8), (1, 4))", Layout((4, 8), (1, 4))),
        (
            "ComposedLayout(None, 3, Layout((4, 8), (16, 1)))",
            ComposedLayout(None, 3, Layout((4, 8), (16, 1))),
        ),
    ],
)
def test_the_third_slot_is_a_layout(written: str, layout: object) -> None:
    found = load_function("return x", params=f'x: Tensor[(4, 8), "f32", {written}]', result='Tensor[(4, 8), "f32"]')
    assert isinstance(found.params[0].type, TensorType)
    assert found.params[0].type.layout == layout


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_annotations_in_quotes(future: str) -> None:
    quoted = "'Tensor[(8,), \"f32\"]'"
    found = load_function("return x", params=f"x: {quoted}", result=quoted, head=future)
    assert found.params[0].type == found.return_type == load_function("return x").return_type


def test_a_const_tensor_is_a_weight() -> None:
    found = load_function("return x * w", params=f'{VECTOR}, w: ConstTensor[(8,), "f32"]')
    assert [p.is_const for p in found.params] == [False, True]
    assert found.params[0].type == found.params[1].type


@pytest.mark.parametrize(
    "written",
    ["tuple[T, T]", "typing.Tuple[T, T]", "(T, T)", "[T, T]"],
)
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_several_results(written: str, future: str) -> None:
    head = f"{future}import typing\nT = Tensor[(8,), 'f32']"
    found = load_function("return (x, x * x)", result=written, head=head)
    assert isinstance(found.return_type, TupleType)
    assert isinstance(found.body, Tuple)


# -- layouts and meshes


@pytest.mark.parametrize(
    ("written", "shape", "attrs", "strides"),
    [
        ("(4 @ t.w, 2, 64)", (4, 2, 64), (Split(0), Broadcast()), (0, 64, 1)),
        ("(8 @ t.w, 64)", (4, 2, 64), (Split(0), Broadcast()), (0, 64, 1)),
        ("(8, 64 @ t.l)", (8, 32, 2), (Broadcast(), Split(1)), (2, 0, 1)),
        ("(8 @ t.w, 64 @ t.l)", (4, 2, 32, 2), (Split(0), Split(2)), (0, 2, 0, 1)),
        ("((4 @ t.w, 2, 64), (128, 64, 1))", (4, 2, 64), (Split(0), Broadcast()), (128, 64, 1)),
        ("(8, 64)", None, None, None),
    ],
)
def test_layouts_as_authors_write_them(
    written: str, shape: object, attrs: tuple[object, ...] | None, strides: object
) -> None:
    value = placed(f'tf.reshard(x, {written}, "rmem")')
    if attrs is None:
        assert isinstance(value.type, TensorType)
        assert value.type.layout == Layout((8, 64), (64, 1))
        return
    layout = layout_of(value)
    assert (layout.shape, layout.attrs, layout.layout.strides) == (shape, attrs, strides)


def test_one_extent_on_two_axes() -> None:
    value = placed('tf.reshard(x, (8 @ (t.w, t.l), 64), "rmem")', mesh='("cta",), (2, 2), ("w", "l")')
    layout = layout_of(value)
    assert (layout.shape, layout.attrs) == ((2, 2, 2, 64), (Split(0), Split(1)))


@pytest.mark.parametrize("state", ['P("sum")', "P()", "P"])
def test_value_states_come_last(state: str) -> None:
    value = placed(f'tf.zeros(Tensor[(8, 64), "f32", ((8, 64 @ t.l), {{t.w @ {state}}}), "rmem"])')
    assert layout_of(value).attrs == (Partial("sum"), Split(1))


def test_value_states_after_strides() -> None:
    value = placed('tf.zeros(Tensor[(8, 64), "f32", ((8, 32 @ t.l, 2), (64, 2, 1), {t.w @ P("max")}), "smem"])')
    layout = layout_of(value)
    assert (layout.attrs, layout.layout.strides) == ((Partial("max"), Split(1)), (64, 2, 1))


@pytest.mark.parametrize("axis", ["t", "t.c"])
def test_a_mesh_of_one_axis_stands_for_the_axis(axis: str) -> None:
    layout = layout_of(placed(f'tf.reshard(x, (8 @ {axis}, 64), "rmem")', mesh='("cta",), (4,), ("c",)'))
    assert layout.attrs == (Split(0),)


@pytest.mark.parametrize(
    "mesh",
    [
        '("thread",), (4, 32), ("w", "l")',
        'topologies=("thread",), layout=(4, 32), names=("w", "l")',
        '(Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")',
        '("thread",), Layout((4, 32)), names=("w", "l")',
    ],
)
def test_meshes_as_authors_write_them(mesh: str) -> None:
    found = layout_of(placed('tf.reshard(x, (4 @ t.w, 2, 64), "rmem")', mesh=mesh)).mesh
    assert (found.layout, found.names) == (Layout((4, 32), (32, 1)), ("w", "l"))


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_a_parameter_may_be_placed_on_a_mesh_outside(future: str) -> None:
    scope = load_program(
        f"""
        {future}
        m = Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l"))
        @func(topologies=(THREAD,))
        def f(
            x: Tensor[(8 @ m.w, 64), "f32", "rmem"],
            y: Tensor[(8, 64), "f32", ((8, 64 @ m.l), {{m.w @ P("sum")}}), "rmem"]
        ) -> Tensor[(8, 64), "f32"]:
            return x
        """
    )
    module = scope["f"]
    assert isinstance(module, Module)
    entry = module.entry_function()
    assert isinstance(entry, Function)
    assert [layout_of(p).attrs for p in entry.params] == [(Split(0), Broadcast()), (Partial("sum"), Split(1))]


def test_an_axis_is_the_coordinate_where_a_value_is_wanted() -> None:
    value = placed('tf.reshard(x, (4 @ t.w, 2, 64), "rmem") + tf.cast(t.w * 2 + 1, "f32")')
    assert any(isinstance(e, Call) and isinstance(e.target, MeshCoordinate) for e in post_order(value))


# -- subscripts


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("x[3]", (6, 4)),
        ("x[-1, 1:3]", (2, 4)),
        ("x[..., 0]", (8, 6)),
        ("x[:, -2:]", (8, 2, 4)),
        ("x[1:8:3, :, 2]", (3, 6)),
        ("x[2:2]", (0, 6, 4)),
    ],
)
def test_subscripts(written: str, shape: tuple[int, ...]) -> None:
    found = load_function(f"return {written}", params='x: Tensor[(8, 6, 4), "f32"]', result=f'Tensor[{shape}, "f32"]')
    assert found.return_type == body_of(found).type


def test_a_run_time_start_has_a_constant_length() -> None:
    lines = ("y = x[0:2]", "for i in range(4):", "    y = y + x[i : i + 2]", "return y")
    found = load_function(*lines, result='Tensor[(2,), "f32"]')
    assert body_of(found).type == found.return_type


# -- values and operators


def test_compile_time_values() -> None:
    head = "class C:\n    class D:\n        eps = 0.25\nN8, TABLE = 8, {'k': [1.0, 2.0]}"
    found = load_function("return x * (C.D.eps * 2 ** 2 + TABLE['k'][1] - N8 // 3)", head=head)
    body = body_of(found)
    assert isinstance(body, Call)
    assert isinstance(body.args[1], Constant)
    assert body.args[1].value == 0.25 * 4 + 2.0 - 2


@pytest.mark.parametrize(
    ("written", "result", "op"),
    [
        ("x + y", '(8,), "f32"', Binary(BinaryKind.ADD)),
        ("x - y", '(8,), "f32"', Binary(BinaryKind.SUB)),
        ("x * y", '(8,), "f32"', Binary(BinaryKind.MUL)),
        ("x / y", '(8,), "f32"', Binary(BinaryKind.DIV)),
        ("n // n", '(8,), "i32"', Binary(BinaryKind.FLOOR_DIV)),
        ("n % n", '(8,), "i32"', Binary(BinaryKind.MOD)),
        ("x == y", '(8,), "bool"', Binary(BinaryKind.EQ)),
        ("x != y", '(8,), "bool"', Binary(BinaryKind.NE)),
        ("x < y", '(8,), "bool"', Binary(BinaryKind.LT)),
        ("x <= y", '(8,), "bool"', Binary(BinaryKind.LE)),
        ("x > y", '(8,), "bool"', Binary(BinaryKind.GT)),
        ("x >= y", '(8,), "bool"', Binary(BinaryKind.GE)),
        ("b and b", '(8,), "bool"', Binary(BinaryKind.AND)),
        ("b or b", '(8,), "bool"', Binary(BinaryKind.OR)),
        ("not b", '(8,), "bool"', Unary(UnaryKind.NOT)),
        ("-x", '(8,), "f32"', Unary(UnaryKind.NEG)),
        ("m @ m", '(8, 8), "f32"', MatMul(None)),
    ],
)
def test_operators(written: str, result: str, op: object) -> None:
    params = (
        'x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], n: Tensor[(8,), "i32"], b: Tensor[(8,), "bool"], '
        'm: Tensor[(8, 8), "f32"]'
    )
    found = load_function(f"return {written}", params=params, result=f"Tensor[{result}]")
    assert op_of(body_of(found)) == op


def test_a_float_adopts_a_dtype_and_an_int_stays_one() -> None:
    found = load_function("return x * 0.5, n + 2", params='x: Tensor[(8,), "bf16"], n: Tensor[(8,), "i32"]',
                     result='(Tensor[(8,), "bf16"], Tensor[(8,), "i32"])')  # fmt: skip
    body = body_of(found)
    assert isinstance(body, Tuple)
    literals = [e.args[1] for e in body.elements if isinstance(e, Call)]
    assert [c.type for c in literals if isinstance(c, Constant)] == [
        TensorType.scalar(DType.bf16), TensorType.scalar(DType.i32)
    ]  # fmt: skip


def test_where_attaches_a_schedule_constraint() -> None:
    found = load_function('y: where(layout=(8,), storage="gmem") = x + x', "return y")
    record = find_metadata(body_of(found).metadata, ScheduleConstraintMetadata)
    assert record is not None
    assert record.storage is StorageKind.GMEM
