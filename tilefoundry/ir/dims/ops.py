"""Integer arithmetic on extents and indices. Division and modulo round towards minus infinity, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import DimSubstitutionError, WrongTypeError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, type_of
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.core.type import IntLiteralType, Type

Dim = Expr | int


@dataclass(frozen=True, slots=True)
class DimOp(Op):
    """Base of the dim ops. Operands are integer scalars of one type, or plain ints."""

    def type_rule(self, ctx: TypeContext, *args: Dim) -> Type:
        """The type of the operands that are expressions; `IntLiteralType` when there are none."""
        found: Type = IntLiteralType()
        for arg in args:
            type_ = type_of(arg)
            if isinstance(type_, IntLiteralType):
                continue
            if not isinstance(found, IntLiteralType) and found != type_:
                ctx.error(f"operands have different types, {found} and {type_}", "cast one of them")
            found = type_
        return found

    def arithmetic(self, symbol: str, lhs: object, rhs: object) -> object:
        """Python operators on dim expressions build dim expressions."""
        return dim_operator(symbol, lhs, rhs)

    def fold(self, *values: int) -> int:
        """The value on ints."""
        raise NotImplementedError


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimConst(DimOp):
    """An integer as a dim expression: ``Call(DimConst(5), ())``."""

    value: int

    def fold(self, *values: int) -> int:
        return self.value


@dataclass(frozen=True, slots=True)
class BinaryDimOp(DimOp):
    """Base of the dim ops on two operands."""

    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimAdd(BinaryDimOp):
    """Sum."""

    def fold(self, *values: int) -> int:
        return values[0] + values[1]


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimSub(BinaryDimOp):
    """Difference."""

    def fold(self, *values: int) -> int:
        return values[0] - values[1]


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimMul(BinaryDimOp):
    """Product."""

    def fold(self, *values: int) -> int:
        return values[0] * values[1]


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimFloorDiv(BinaryDimOp):
    """Quotient, rounded towards minus infinity."""

    def fold(self, *values: int) -> int:
        if values[1] == 0:
            raise DimSubstitutionError(
                f"{values[0]} // 0 in an extent or index", remedy="divide by a positive int or extent"
            )
        return values[0] // values[1]


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimMod(BinaryDimOp):
    """Remainder, with the sign of the divisor."""

    def fold(self, *values: int) -> int:
        if values[1] == 0:
            raise DimSubstitutionError(
                f"{values[0]} % 0 in an extent or index", remedy="divide by a positive int or extent"
            )
        return values[0] % values[1]


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimMin(BinaryDimOp):
    """The lesser."""

    def fold(self, *values: int) -> int:
        return min(values)


@register_op(dialect="dim", category="dim")
@dataclass(frozen=True, slots=True)
class DimMax(BinaryDimOp):
    """The greater."""

    def fold(self, *values: int) -> int:
        return max(values)


_OPERATORS: dict[str, Callable[[], DimOp]] = {
    "+": DimAdd, "-": DimSub, "*": DimMul, "//": DimFloorDiv, "%": DimMod,
}  # fmt: skip


def dim_operator(symbol: str, lhs: object, rhs: object) -> object:
    """``lhs <symbol> rhs`` as a dim expression, or NotImplemented when an operand is not one."""
    if not (is_dim_operand(lhs) and is_dim_operand(rhs)):
        return NotImplemented
    return Call(_OPERATORS[symbol](), (lhs, rhs))  # type: ignore[arg-type]  # checked above


def is_dim_operand(value: object) -> bool:
    """Whether a value may stand in a dim expression: a plain int or a scalar expression."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, Expr) and not isinstance(value, Tuple)
    )


def simplify_dim(op: DimOp, args: tuple[Dim, ...]) -> Call:
    """The call of `op` on `args`, as it is: constructs only, folds nothing.

    Raises:
        WrongTypeError: an operand is a bool or no dim.
    """
    if not isinstance(op, DimOp) or not isinstance(args, (tuple, list)):
        raise WrongTypeError(
            f"simplify_dim: expected a dim op and a tuple of operands, got {op!r} and {args!r}",
            remedy="write simplify_dim(DimAdd(), (a, b))",
        )
    for arg in args:
        if not is_dim_operand(arg) or (isinstance(arg, Constant) and not isinstance(arg.value, int)):
            raise WrongTypeError(
                f"{op.op_name}: expected plain ints and dim expressions, got {arg!r}",
                remedy="use ints, DimVars, and + - * // % on these",
            )
    return Call(op, args)
