"""Calls of ops by surface name: the schema whose patterns match, variadic and optional operands, lone scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry.diagnostics import OverloadError, VerifyError
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat, TensorPat
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.hir import CacheUpdate, Concat, Conv2d
from tilefoundry.python.testing import check_refusal, load_program


@dataclass(frozen=True, slots=True)
class Made(Op):
    """Base of the ops of this test."""

    def type_rule(self, ctx: TypeContext, *args: Expr | int) -> Type:
        assert isinstance(args[0], Expr)
        return args[0].type


@register_op(dialect="test", name="made")
@dataclass(frozen=True, slots=True)
class OfMatrix(Made):
    x: ClassVar[ParamDef] = ParamDef(pattern=TensorPat(rank=2))
    wide: bool = False


@register_op(dialect="test", name="made")
@dataclass(frozen=True, slots=True)
class OfPair(Made):
    x: ClassVar[ParamDef] = ParamDef(pattern=TensorPat(rank=1))
    y: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())


@register_op(dialect="test", name="made")
@dataclass(frozen=True, slots=True)
class OfOptions(Made):
    x: ClassVar[ParamDef] = ParamDef(pattern=TensorPat(rank=3))
    y: ClassVar[ParamDef] = ParamDef(optional=True)
    z: ClassVar[ParamDef] = ParamDef(optional=True)


TYPES = {
    "v": '(4,), "f32"',
    "m": '(4, 4), "f32"',
    "t": '(4, 4, 4), "f32"',
    "c": '(4, 4, 4, 4), "bf16"',
    "s": '(), "i32"',
}


def program(expression: str, result: str = "m") -> str:
    """A function that returns this expression, of the type of one of its parameters."""
    params = ", ".join(f"{name}: Tensor[{type_}]" for name, type_ in TYPES.items())
    return (
        "from tilefoundry.dsl.markers import SurfaceOp\n"
        'made = SurfaceOp("test", "made")\n'
        f"@func\ndef f({params}) -> Tensor[{TYPES[result]}]:\n    return {expression}\n"
    )


@pytest.mark.parametrize(
    ("expression", "result", "op", "operands"),
    [
        ("made(m)", "m", OfMatrix(), 1),
        ("made(m, wide=True)", "m", OfMatrix(True), 1),
        ("made(m, True)", "m", OfMatrix(True), 1),
        ("made(v, 2.0)", "v", OfPair(), 2),
        ("made(x=v, y=s)", "v", OfPair(), 2),
        ("made(t)", "t", OfOptions(), 1),
        ("made(t, m)", "t", OfOptions(), 2),
        ("made(t, z=m, y=v)", "t", OfOptions(), 3),
        ("tf.concat(m[0:1], m[1:2], m[2:4], axis=0)", "m", Concat(0), 3),
        ("tf.concat(m)", "m", Concat(0), 1),
        ("tf.conv2d(c, c, padding=2, dilation=1)[:, :, 0:4, 0:4]", "c", None, 2),
        ("tf.cache_update(c, 1, 2, c)", "c", CacheUpdate(), 4),
        ("tf.cache_update(c, s, s, new=c)", "c", CacheUpdate(), 4),
    ],
)
def test_the_schema_that_takes_the_arguments(expression: str, result: str, op: Op | None, operands: int) -> None:
    fn = load_program(program(expression, result))["f"]
    assert isinstance(fn, Function)
    called: Expr | int | None = fn.body
    if op is None:
        assert isinstance(called, Call)
        (called, _) = called.args
        op = Conv2d(padding=2)
    assert isinstance(called, Call)
    assert called.target == op
    assert len(called.args) == operands


@pytest.mark.parametrize(
    ("expression", "kind", "words"),
    [
        ("§made(c)", OverloadError, ("no way to call it", "made(x, wide=...): 'x' must be a tensor of rank 2")),
        ("§made(v, v)", OverloadError, ("made(x, y): 'y' must be a scalar, got Tensor",)),
        (
            "§made(m, wide=True, deep=1)",
            OverloadError,
            ("made(x, wide=...): got 1 positional argument(s) and wide, deep",),
        ),
        ("made(t, z=§m)", VerifyError, ("'z' is given, and 'y' before it is not",)),
        ("§tf.cache_update(c, v, 2, c)", OverloadError, ("'cur_pos' must be a scalar, got Tensor[(4,), f32",)),
        (
            "§tf.cache_update(c, 1, 2)",
            VerifyError,
            ("parameter 'new' is missing", "cache_update(cache, cur_pos, s, new)"),
        ),
        (
            "tf.concat(m, axes=§0)",
            VerifyError,
            ("no parameter 'axes'", "did you mean 'axis'?", "concat(*xs, axis=...)"),
        ),
        ("§tf.concat((m, m))", VerifyError, ("one by one, without brackets",)),
        ("§tf.concat(axis=1)", VerifyError, ("expected at least one tensor",)),
    ],
)
def test_no_schema_takes_the_arguments(expression: str, kind: type[Exception], words: tuple[str, ...]) -> None:
    check_refusal(program(expression), words, kind)
