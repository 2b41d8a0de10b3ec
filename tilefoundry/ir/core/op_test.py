from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import MISSING, Op, ParamDef, Var, op_names, register_alias, register_op, schemas_named
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
        "local",
    } <= names  # fmt: skip
    assert schemas_named("tf", "frobnicate") == ()


def test_attributes_accept_names():
    assert Cast("bf16") == Cast(DType.bf16)
    assert MatMul("f32") == MatMul(DType.f32)
    assert Reshard(storage="smem") == Reshard(storage=StorageKind.SMEM)
    with pytest.raises(ValueError, match="unknown dtype"):
        Cast("float32")


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="registered already"):
        register_alias("tf", "elementwise", "add", Binary, {"kind": BinaryKind.ADD})
    with pytest.raises(TypeError, match="frozen dataclass"):
        register_op()(type("NoDataclass", (Op,), {}))


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
