"""What type rules ask of extents, each refused where it is false or cannot be proven."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.arith import dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim


def equal_extents(ctx: TypeContext, what: str, a: Dim, b: Dim, remedy: str | None = None) -> None:
    """Refuses extents that differ.

    Args:
        what: which extents must be equal, as the subject of "must be equal".
    """
    if dim_equal(a, b):
        return
    static = isinstance(dim_sub(a, b), int)
    reason = "they are" if static else "cannot prove it for"
    default = "take a slice of the longer one, or tf.pad the shorter" if static else "declare both by one DimVar"
    ctx.error(f"{what} must be equal: {reason} {format_dim(a)} and {format_dim(b)}", remedy or default)


def at_most(ctx: TypeContext, what: str, extent: Dim, limit: Dim, remedy: str | None = None) -> None:
    """Refuses an extent above its limit."""
    slack = dim_sub(limit, extent)
    if isinstance(slack, int) and slack >= 0:
        return
    have, most = format_dim(extent), format_dim(limit)
    ctx.error(
        f"{what} is {have}, expected at most {most}"
        if isinstance(slack, int)
        else f"cannot prove that {what}, {have}, is at most {most}",
        remedy or "take a slice of that many elements",
    )


def known_int(operand: Expr | int) -> int | None:
    """The value of an index operand that is written as a number, else None."""
    if isinstance(operand, Constant):
        return operand.value if type(operand.value) is int else None
    return operand if isinstance(operand, int) else None
