"""Checks of attributes, which fail when the op is made."""

from __future__ import annotations

import math

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.types import BoolDType, DType, FloatDType, IntegerDType
from tilefoundry.ir.types.limits import largest_finite


def plain_int(op: str, name: str, value: object) -> int:
    """`value`, which must be a plain int of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not _fits(value):
        raise WrongTypeError(f"{op}: {name} must be a plain int, got {value!r}", remedy="write a number")
    return value


def ints(op: str, name: str, value: object) -> tuple[int, ...]:
    """A non-empty tuple of plain ints of 64 bits; one int stands for a tuple of it."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    if not items or not all(type(item) is int and _fits(item) for item in items):
        raise WrongTypeError(
            f"{op}: {name} must be an int or a non-empty tuple of ints, got {value!r}", remedy="write 0, or (0, 1)"
        )
    return tuple(items)


def extents(op: str, name: str, value: object) -> tuple[Dim, ...]:
    """A tuple of ints of 64 bits and dims, each in normal form."""
    if not isinstance(value, (tuple, list)) or not all(is_dim_operand(d) and _fits(d) for d in value):
        raise WrongTypeError(
            f"{op}: {name} must be a tuple of ints and dims, got {value!r}",
            remedy="write (a, b), with extents that are ints or DimVars",
        )
    return tuple(normalize_dim(d) for d in value)


def _fits(value: object) -> bool:
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def check_value(ctx: TypeContext, value: bool | int | float, dtype: DType) -> None:
    """Refuses a number that elements of `dtype` cannot be set to; floats round, and may be infinite or NaN."""
    if isinstance(dtype, BoolDType):
        if not isinstance(value, bool):
            ctx.error(f"{value!r} is no value of bool", "write True or False")
    elif isinstance(value, bool):
        ctx.error(f"{value!r} is no value of {dtype}", "write a number")
    elif isinstance(dtype, IntegerDType):
        low, high = dtype.range
        if isinstance(value, float) or not low <= value <= high:
            ctx.error(
                f"{value!r} is no value of {dtype}, which holds {low}..{high}", "use a number that the dtype holds"
            )
    elif dtype is DType.f8e8m0 and not value > 0:
        ctx.error(f"{value!r} is no value of f8e8m0, which holds powers of two", "write a power of two")
    elif isinstance(dtype, FloatDType) and not _in_range(value, largest_finite(dtype)):
        limit = f"{largest_finite(dtype):g}"
        shown = f"{value:g}" if isinstance(value, float) else f"an int of {value.bit_length()} bits"
        ctx.error(
            f"{shown} is no value of {dtype}, which holds up to {limit}", f"write -{limit}..{limit}, or an infinity"
        )


def _in_range(value: int | float, limit: float) -> bool:
    return (isinstance(value, float) and not math.isfinite(value)) or -limit <= value <= limit
