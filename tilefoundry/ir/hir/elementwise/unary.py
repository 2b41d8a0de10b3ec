"""Unary: one tensor, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, inputs_of, register_alias, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.kinds import UnaryKind
from tilefoundry.ir.types import DType, FloatDType, TensorType

# None of these decreases anywhere, so the greatest operand has the greatest result.
_MONOTONE = frozenset(
    UnaryKind[name] for name in
    ["EXP", "LOG", "RELU", "CEIL", "ROUND", "EXP2", "LOG2", "LOG1P", "SQRT", "ERF", "TANH", "SIGMOID", "FLOOR"]
)  # fmt: skip
_ANY_NUMBER = frozenset((UnaryKind.NEG, UnaryKind.ABS, UnaryKind.SQUARE, UnaryKind.RELU))


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Unary(Op):
    """``kind(x)``, of the type of `x`; isnan and isinf give bool.

    Shapes: x (*A) -> A

    ``not`` needs bool; neg, abs, square and relu any number; the others floats. round goes to the nearest integer,
    halves to even. Outside their domain log, log2, log1p, sqrt and rsqrt give NaN, as in torch.

    Partial: maxima and minima pass through what is monotone (exp, log, relu, ceil, round, exp2, log2, log1p, sqrt, erf,
    tanh, sigmoid, floor), sums through neg.
    """

    x: ClassVar[ParamDef] = ParamDef()
    kind: UnaryKind

    def __post_init__(self) -> None:
        if not isinstance(self.kind, UnaryKind):
            raise WrongTypeError(
                f"Unary: kind must be a UnaryKind, got {self.kind!r}", remedy="write UnaryKind.EXP and the like"
            )
        if self.kind is UnaryKind.CAST:
            raise WrongTypeError("Unary: CAST is a kind of TIR only; use Cast(dtype)", remedy="write Cast(dtype)")

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`, or bool in its place."""
        t = tensor_operand(ctx, "x", x)
        what = self.kind.value
        if self.kind is UnaryKind.NOT:
            if t.dtype != DType.bool:
                ctx.error(f"not needs a bool operand, got {t.dtype}", "compare first, as in x > 0.0")
        elif t.dtype == DType.bool:
            ctx.error(f"{what} does not accept a bool operand", "cast it to a number type")
        elif self.kind not in _ANY_NUMBER and not isinstance(t.dtype, FloatDType):
            ctx.error(f"{what} needs a float operand, got {t.dtype}", 'cast it first, as in tf.cast(x, "f32")')
        passes = ("max", "min") if self.kind in _MONOTONE else ("sum",) if self.kind is UnaryKind.NEG else ()
        return identity_type(ctx, t, passes, DType.bool if self.kind.is_test else None)


_SURFACE = {
    "neg": UnaryKind.NEG, "abs": UnaryKind.ABS, "logical_not": UnaryKind.NOT, "rsqrt": UnaryKind.RSQRT,
    "exp": UnaryKind.EXP, "log": UnaryKind.LOG, "square": UnaryKind.SQUARE, "ceil": UnaryKind.CEIL,
    "round": UnaryKind.ROUND, "exp2": UnaryKind.EXP2, "log2": UnaryKind.LOG2, "relu": UnaryKind.RELU,
    "log1p": UnaryKind.LOG1P, "sqrt": UnaryKind.SQRT, "sin": UnaryKind.SIN, "cos": UnaryKind.COS, "erf": UnaryKind.ERF,
    "tanh": UnaryKind.TANH, "sigmoid": UnaryKind.SIGMOID, "floor": UnaryKind.FLOOR, "isnan": UnaryKind.ISNAN,
    "isinf": UnaryKind.ISINF,
}  # fmt: skip

for _name, _kind in _SURFACE.items():
    register_alias("tf", "elementwise", _name, inputs_of(Unary))(partial(Unary, _kind))
