import copy
import dataclasses
import pickle
from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import (
    MISSING,
    Op,
    OpSchema,
    ParamDef,
    Var,
    op_names,
    register_alias,
    register_op,
    schemas_named,
)
from tilefoundry.ir.core.op import inputs_of
from tilefoundry.ir.dims import DimAdd, DimSub
from tilefoundry.ir.hir import Binary, BinaryKind, Cast, MatMul, Reshard
from tilefoundry.ir.types import DType, StorageKind, UnitType


def test_a_schema_lists_inputs_then_attributes():
    (schema,) = schemas_named("tf", "reduce")
    assert [(p.name, p.kind, p.default) for p in schema.params][:2] == [
        ("x", "input", MISSING),
        ("axes", "attribute", MISSING),
    ]
    assert [p.name for p in schema.attributes] == ["axes", "keepdim", "kind"]
    assert schema.attributes[1].default is True
    assert schema.attributes[0].required
    assert not schema.attributes[1].required


def test_an_alias_presets_attributes():
    (schema,) = schemas_named("tf", "add")
    assert schema.is_alias
    assert schema.build() == Binary(BinaryKind.ADD)
    assert [p.name for p in schema.params] == ["lhs", "rhs"]


def test_every_op_of_the_catalogue_has_its_surface_name():
    names = set(op_names("tf"))
    assert {
        "add", "sub", "mul", "div", "floor_div", "mod", "min", "max", "minimum", "maximum", "cmp_eq", "cmp_ne",
        "cmp_lt", "cmp_le", "cmp_gt", "cmp_ge", "logical_and", "logical_or", "neg", "abs", "logical_not", "rsqrt",
        "exp", "log", "square", "ceil", "round", "exp2", "log2", "relu", "cast", "where", "full_like", "zeros",
        "arange", "matmul", "reshape", "transpose", "slice", "insert_slice", "tuple_get_item", "reduce", "reshard",
        "local", "clamp", "softplus", "sigmoid", "tanh", "silu", "gelu", "softmax", "rms_norm", "layer_norm", "rope",
        "conv2d", "mma_sm80_16x8x16", "wgmma_sm90_64x128x16", "concat", "stack", "split", "argmax", "topk",
        "index_select", "index_add", "index_copy", "cache_update", "repeat_interleave", "rank", "shape_of", "quant",
        "sin", "cos", "erf", "pow", "sqrt", "isnan", "isinf", "cumsum", "gather", "scatter_add", "pad", "flip",
        "squeeze", "unsqueeze", "expand", "argmin", "sort", "attention",
    } <= names  # fmt: skip
    assert schemas_named("tf", "frobnicate") == ()


@pytest.mark.parametrize(
    "signature",
    [
        "concat(*xs, axis=...)",
        "stack(*xs, axis=...)",
        "split(x, axis, num_splits)",
        "squeeze(x, axis)",
        "unsqueeze(x, axis)",
        "expand(x, new_shape)",
        "flip(x, axes)",
        "pad(x, pad, value=...)",
        "repeat_interleave(x, repeats, axis)",
        "rank(x)",
        "shape_of(x)",
        "reshape(x, new_shape)",
        "transpose(x, perm)",
        "index_select(x, index, dim)",
        "gather(x, index, dim)",
        "index_add(dst, index, src, dim)",
        "index_copy(dst, index, src, dim)",
        "scatter_add(dst, index, src, dim)",
        "cache_update(cache, cur_pos, s, new)",
        "zeros(type)",
        "arange(type, start=..., step=...)",
        "conv2d(input, weight, bias=..., stride=..., padding=..., dilation=..., groups=...)",
        "mma_sm80_16x8x16(a, b, dtype_a, dtype_b, dtype_acc, a_layout=..., b_layout=...)",
        "wgmma_sm90_64x128x16(a, b, dtype_a, dtype_b, dtype_acc, a_layout=..., b_layout=...)",
    ],
)
def test_the_parameters_of_a_surface_name(signature):
    """Programs give arguments by position and by name, so neither may change."""
    (schema,) = schemas_named("tf", signature.partition("(")[0])
    assert schema.signature == signature


def test_attributes_accept_names():
    assert Cast("bf16") == Cast(DType.bf16)
    assert MatMul("f32") == MatMul(DType.f32)
    assert Reshard(storage="smem") == Reshard(storage=StorageKind.SMEM)
    with pytest.raises(ValueError, match="unknown dtype"):
        Cast("float32")


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="registered already"):
        register_alias("tf", "elementwise", "add", inputs_of(Binary))(lambda: Binary(BinaryKind.ADD))
    with pytest.raises(ValueError, match="a parameter has no name"):
        register_alias("test", "", "nameless", (ParamDef(),))
    with pytest.raises(TypeError, match="derives from Op"):
        register_op()(type("NoOp", (), {}))


def test_a_user_op_is_typed_by_its_rule():
    @register_op(dialect="test", category="made_up")
    @dataclass(frozen=True, slots=True)
    class Second(Op):
        a: ClassVar[ParamDef] = ParamDef()
        b: ClassVar[ParamDef] = ParamDef(optional=True)
        flag: bool = False

        def type_rule(self, ctx, a, b=None):
            if b is None:
                ctx.error("needs b", "give it")
            return b.type

    (schema,) = schemas_named("test", "second")
    assert schema.build(flag=True) == Second(flag=True)
    with pytest.raises(VerifyError, match="second: needs b"):
        Second().infer_type((Var("x", UnitType()),))
    with pytest.raises(VerifyError, match="expected at least 1 operand"):
        Second().infer_type(())


def test_parameters_may_all_be_class_attributes():
    @register_op(dialect="test", category="made_up")
    class Scaled(Op):
        x = ParamDef(kind="input")
        axis = ParamDef(kind="attribute", annotation=int)
        factor = ParamDef(kind="attribute", annotation=float, default=2.0)

        def type_rule(self, ctx, x):
            return x.type

    (schema,) = schemas_named("test", "scaled")
    assert schema.signature == "scaled(x, axis, factor=...)"
    op = schema.build(axis=1)
    assert (op.axis, op.factor, op) == (1, 2.0, Scaled(1)) and op != Scaled(1, 3.0)
    assert op.attributes() == (("axis", 1), ("factor", 2.0))
    assert op.infer_type((Var("x", UnitType()),)) == UnitType()
    with pytest.raises(dataclasses.FrozenInstanceError):
        op.axis = 2
    fields = {"__annotations__": {"axis": int}, "axis": ParamDef("attribute", default=0)}
    with pytest.raises(TypeError, match="declares axis by ParamDef(.|\n)*as fields"):
        register_op(dialect="test")(dataclass(frozen=True)(type("Mixed", (Op,), fields)))


def declared(**inputs):
    """An op class with these inputs, which is not registered."""
    body = {"__module__": __name__, "__annotations__": dict.fromkeys(inputs, "ClassVar[ParamDef]"), **inputs}
    return dataclass(frozen=True, slots=True)(type("Made", (Op,), body))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"a": ParamDef(variadic=True), "b": ParamDef()}, "'b' stands behind 'a', which takes all operands"),
        ({"a": ParamDef(variadic=True), "b": ParamDef(variadic=True)}, "'b' stands behind 'a'"),
        ({"a": ParamDef(optional=True), "b": ParamDef()}, "'b' stands behind 'a', which may be left out"),
        ({"a": ParamDef(default=None), "b": ParamDef()}, "may be left out"),
    ],
)
def test_operands_are_told_apart_by_their_order(inputs, words):
    with pytest.raises(ValueError, match=words):
        register_op(dialect="test", name="order")(declared(**inputs))


@pytest.mark.parametrize(
    ("inputs", "least", "words"),
    [
        ({"a": ParamDef(), "b": ParamDef(optional=True)}, 1, r"expected at least 1 operand\(s\) \(a, b\), got 0"),
        ({"a": ParamDef(), "xs": ParamDef(variadic=True)}, 1, r"expected at least 1 operand\(s\) \(a, \*xs\), got 0"),
        ({"a": ParamDef(), "b": ParamDef()}, 2, r"expected 2 operand\(s\) \(a, b\), got 0"),
    ],
)
def test_the_number_of_operands(inputs, least, words):
    cls = declared(**inputs)
    cls.type_rule = lambda self, ctx, *args: UnitType()
    x = Var("x", UnitType())
    assert cls().infer_type((x,) * least) == UnitType()
    with pytest.raises(VerifyError, match=words):
        cls().infer_type(())
    if not any(p.variadic for p in inputs.values()):
        with pytest.raises(VerifyError, match="expected (at most )?2 .*got 3"):
            cls().infer_type((x,) * 3)


def test_positional_arguments_have_their_parameters():
    params = (ParamDef(name="x"), ParamDef("attribute", name="k"), ParamDef("attribute", name="n", default=0))
    schema = OpSchema("test", "", "f", params, Op)
    assert schema.signature == "f(x, k, n=...)"
    assert [p.name for p in schema.place(2)] == ["x", "k"]
    assert schema.place(4) is None
    for positional, keywords, fits in (
        (2, (), True), (3, (), True), (1, ("k",), True), (0, ("x", "k", "n"), True), (1, (), False), (4, (), False),
        (2, ("k",), False), (2, ("m",), False),
    ):  # fmt: skip
        assert schema.takes(positional, keywords) is fits
    joined = OpSchema("test", "", "g", (ParamDef(name="xs", variadic=True), ParamDef("attribute", name="k")), Op)
    assert joined.signature == "g(*xs, k)"
    assert [p.name for p in joined.place(3)] == ["xs"] * 3
    assert joined.takes(5, ("k",))
    assert joined.takes(0, ("k",))
    assert not joined.takes(5, ())


def test_an_alias_wins_over_an_op_of_its_name():
    first = declared(a=ParamDef())
    register_op(dialect="test", name="shadowed")(first)

    @register_alias("test", "", "shadowed", inputs_of(Binary))
    def build() -> Op:
        return Binary(BinaryKind.ADD)

    assert build() == Binary(BinaryKind.ADD)  # it stays a function
    alias, own = schemas_named("test", "shadowed")
    assert (alias.is_alias, alias.build()) == (True, Binary(BinaryKind.ADD))
    assert (own.is_alias, own.build()) == (False, first())


def test_an_alias_may_state_its_parameters():
    params = (ParamDef(name="x"), ParamDef(name="y"), ParamDef("attribute", name="wide", default=None))

    @register_alias("test", "", "named", params)
    def build(wide: str | None = None) -> Op:
        return MatMul(wide or "f32")

    (schema,) = schemas_named("test", "named")
    assert schema.signature == "named(x, y, wide=...)"
    assert (schema.build(), schema.build(wide="f64")) == (MatMul("f32"), MatMul("f64"))


def test_ops_without_attributes_are_singletons():
    for name in op_names("tf"):
        for schema in schemas_named("tf", name):
            cls = schema.build
            if isinstance(cls, type) and issubclass(cls, Op) and not dataclasses.fields(cls):
                op = cls()
                assert cls() is op
                assert copy.deepcopy(op) is copy.copy(op) is pickle.loads(pickle.dumps(op)) is op
                assert dataclasses.replace(op) is op
    assert DimAdd() is DimAdd()
    assert DimAdd() is not DimSub()

    @dataclass(frozen=True, slots=True)
    class Derived(DimAdd):
        weight: int = 1

    assert Derived(2).weight == 2 and Derived(2) is not DimAdd()
