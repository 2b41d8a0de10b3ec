"""Elementwise effect ops: the last argument is the destination, operands have its local shape or are scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.kinds import BinaryKind, UnaryKind
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import number_for, operand_dtype, same_dtype, same_part, scalar, tensor, written
from tilefoundry.ir.types import DType, FloatDType, TensorType


@register_op(dialect="T", category="elementwise", name="copy")
@dataclass(frozen=True, slots=True)
class Copy(EffectOp):
    """``Copy()(src, dst)``: every instance copies its own part; same local shape on both sides."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One element type, one part."""
        _same(ctx, tensor(ctx, "src", src), written(ctx, "dst", dst))


@register_op(dialect="T", category="elementwise", name="fill")
@dataclass(frozen=True, slots=True)
class Fill(EffectOp):
    """``Fill(value)(dst)``: every element becomes ``value``, rounded to the element type."""

    dst: ClassVar[ParamDef] = ParamDef()
    value: float | int | bool

    writes: ClassVar[tuple[int, ...]] = (0,)

    def check(self, ctx: TypeContext, dst: Expr) -> None:  # type: ignore[override]
        """The value is a number that the elements can take."""
        number_for(ctx, "value", self.value, written(ctx, "dst", dst).dtype)


@register_op(dialect="T", category="elementwise", name="iota")
@dataclass(frozen=True, slots=True)
class Iota(EffectOp):
    """``Iota(axis, step)(start, dst)``: start + step * (logical coordinate along ``axis``)."""

    start: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    axis: int
    step: int

    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, start: Expr, dst: Expr) -> None:  # type: ignore[override]
        """A number that the elements can take, along an axis of ``dst``."""
        dtype = scalar(ctx, "start", start)
        type_ = written(ctx, "dst", dst)
        if DType.bool in (dtype, type_.dtype) or (isinstance(dtype, FloatDType) and type_.dtype.is_integer):
            ctx.error(f"'start' is {dtype}, and the elements of 'dst' are {type_.dtype}", "start at an integer")
        if not 0 <= self.axis < type_.rank:
            ctx.error(f"'dst' of type {type_} has no axis {self.axis}", remedy="count the axes of 'dst' from 0")


@register_op(dialect="T", category="elementwise", name="unary")
@dataclass(frozen=True, slots=True)
class Unary(EffectOp):
    """``Unary(kind)(src, dst)``."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    kind: UnaryKind

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, UnaryKind):
            raise WrongTypeError(f"unary: kind must be a UnaryKind, got {self.kind!r}", remedy="write UnaryKind.EXP")
        if self.kind is UnaryKind.CAST:
            raise WrongValueError("unary: CAST is an op of its own", remedy="write T.cast(src, dst)")

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One element type, or bool of a test; one part; logic on bool."""
        type_, result = tensor(ctx, "src", src), written(ctx, "dst", dst)
        if self.kind is UnaryKind.NOT and type_.dtype != DType.bool:
            ctx.error(
                f"not needs bool elements, got {type_.dtype}",
                remedy="compare first: T.binary(x, 0, mask, kind=BinaryKind.NE)",
            )
        if self.kind.is_test:
            same_dtype(ctx, f"the result of {self.kind.value}", DType.bool, "dst", result.dtype)
            same_part(ctx, "src", type_, "dst", result)
        else:
            _same(ctx, type_, result)


@register_op(dialect="T", category="elementwise", name="relu")
@dataclass(frozen=True, slots=True)
class ReLU(EffectOp):
    """``ReLU()(src, dst)``: max(src, 0)."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One element type, one part."""
        _same(ctx, tensor(ctx, "src", src), written(ctx, "dst", dst))


@register_op(dialect="T", category="elementwise", name="clamp")
@dataclass(frozen=True, slots=True)
class Clamp(EffectOp):
    """``Clamp(min_val, max_val)(src, dst)``: min(max(src, min_val), max_val)."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    min_val: float | int
    max_val: float | int

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        for name, bound in (("min_val", self.min_val), ("max_val", self.max_val)):
            if isinstance(bound, bool) or not isinstance(bound, (int, float)):
                raise WrongTypeError(f"clamp: {name} must be a number, got {bound!r}", remedy="write a number")
        if not self.min_val <= self.max_val:
            raise WrongValueError(f"clamp: [{self.min_val}, {self.max_val}] is empty", remedy="exchange the bounds")

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One element type, one part; bounds of that type."""
        type_ = tensor(ctx, "src", src)
        for name, bound in (("min_val", self.min_val), ("max_val", self.max_val)):
            number_for(ctx, name, bound, type_.dtype)
        _same(ctx, type_, written(ctx, "dst", dst))


@register_op(dialect="T", category="elementwise", name="cast")
@dataclass(frozen=True, slots=True)
class Cast(EffectOp):
    """``Cast()(src, dst)``: to the element type of ``dst``."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One part."""
        same_part(ctx, "src", tensor(ctx, "src", src), "dst", written(ctx, "dst", dst))


@register_op(dialect="T", category="elementwise", name="binary")
@dataclass(frozen=True, slots=True)
class Binary(EffectOp):
    """``Binary(kind)(lhs, rhs, dst)``; at most one operand is a scalar."""

    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    kind: BinaryKind

    reads: ClassVar[tuple[int, ...]] = (0, 1)
    writes: ClassVar[tuple[int, ...]] = (2,)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, BinaryKind):
            raise WrongTypeError(f"binary: kind must be a BinaryKind, got {self.kind!r}", remedy="BinaryKind.ADD")

    def check(self, ctx: TypeContext, lhs: Expr | int, rhs: Expr | int, dst: Expr) -> None:  # type: ignore[override]
        """Operands of one element type with the part of ``dst``; comparisons and logic write bool."""
        type_ = written(ctx, "dst", dst)
        dtypes = [
            (name, d)
            for name, x in (("lhs", lhs), ("rhs", rhs))
            if (d := operand_dtype(ctx, name, x, type_)) is not None
        ]
        if len(dtypes) == 2:
            same_dtype(ctx, *dtypes[0], *dtypes[1])
        for name, dtype in dtypes[:1]:
            if self.kind.is_logical and dtype != DType.bool:
                ctx.error(
                    f"{self.kind.value} needs bool operands, got {dtype}",
                    remedy="compare first: T.binary(x, 0, mask, kind=BinaryKind.NE)",
                )
            if self.kind.is_comparison or self.kind.is_logical:
                same_dtype(ctx, "the result", DType.bool, "dst", type_.dtype)
            else:
                same_dtype(ctx, name, dtype, "dst", type_.dtype)


@register_op(dialect="T", category="elementwise", name="where")
@dataclass(frozen=True, slots=True)
class Where(EffectOp):
    """``Where()(condition, then, otherwise, dst)``."""

    condition: ClassVar[ParamDef] = ParamDef()
    then: ClassVar[ParamDef] = ParamDef()
    otherwise: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0, 1, 2)
    writes: ClassVar[tuple[int, ...]] = (3,)

    def check(  # type: ignore[override]
        self, ctx: TypeContext, condition: Expr | int, then: Expr | int, otherwise: Expr | int, dst: Expr
    ) -> None:
        """A bool condition; choices of the element type of ``dst``, with its part."""
        type_ = written(ctx, "dst", dst)
        if operand_dtype(ctx, "condition", condition, type_) != DType.bool:
            ctx.error("'condition' must be bool", "compare first: T.binary(a, b, mask, kind=BinaryKind.LT)")
        for name, x in (("then", then), ("otherwise", otherwise)):
            dtype = operand_dtype(ctx, name, x, type_)
            if dtype is not None:
                same_dtype(ctx, name, dtype, "dst", type_.dtype)


def _same(ctx: TypeContext, src: TensorType, dst: TensorType) -> None:
    same_dtype(ctx, "src", src.dtype, "dst", dst.dtype)
    same_part(ctx, "src", src, "dst", dst)
