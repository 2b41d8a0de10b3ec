"""CacheUpdate: the keys or values of new tokens, written into a cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.hir.common import common_dtype, index_scalar, merge_storage, tensor_operand
from tilefoundry.ir.hir.extents import equal_extents, known_int
from tilefoundry.ir.hir.movement import complete, uniform, whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="index", name="cache_update")
@dataclass(frozen=True, slots=True)
class CacheUpdate(Op):
    """``cache[:, cur_pos : cur_pos + s] = new[:, :s]``, as a fresh value.

    Shapes: cache (B, L, H, D), cur_pos (), s (), new (B, S, H, D) -> (B, L, H, D)

    B sequences, L positions of the cache, S new positions of which the first `s` count, H heads of D elements;
    `cur_pos` and `s` are integers. ``s <= S`` and ``cur_pos + s <= L`` are checked when they are known: here or when
    the program runs.

    Placement: `new` lies as `cache` does, neither split along the positions. Partial: both alike, or none.
    """

    cache: ClassVar[ParamDef] = ParamDef()
    cur_pos: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    s: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    new: ClassVar[ParamDef] = ParamDef()

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, cache: Expr | int, cur_pos: Expr | int, s: Expr | int, new: Expr | int
    ) -> TensorType:
        """The type of `cache`."""
        t, n = tensor_operand(ctx, "cache", cache), tensor_operand(ctx, "new", new)
        for name, operand in (("cache", t), ("new", n)):
            if operand.rank != 4:
                ctx.error(
                    f"'{name}' must have the four axes (B, positions, H, D), got {operand}",
                    "tf.reshape or tf.unsqueeze it",
                )
        common_dtype(ctx, (("cache", cache), ("new", new)))
        for axis in (0, 2, 3):
            equal_extents(ctx, f"the extents of 'cache' and 'new' along axis {axis}", t.shape[axis], n.shape[axis])
        for name, scalar in (("cur_pos", cur_pos), ("s", s)):
            index_scalar(ctx, f"'{name}'", scalar)
            complete(ctx, name, tensor_operand(ctx, name, scalar))
        _check_range(ctx, t, n, known_int(cur_pos), known_int(s))
        for name, operand in (("cache", t), ("new", n)):
            whole_axis(ctx, name, operand, 1, "written in parts")
        operands = (Placed("cache", t, (0, 1, 2, 3)), Placed("new", n, (0, None, 2, 3)))
        propagate(ctx, operands, (0, 1, 2, 3), t.shape, merge_storage(ctx, (t, n)), partial_rule=uniform, alike=True)
        return t


def _check_range(ctx: TypeContext, t: TensorType, n: TensorType, cur_pos: int | None, s: int | None) -> None:
    for name, value in (("cur_pos", cur_pos), ("s", s)):
        if value is not None and value < 0:
            ctx.error(f"'{name}' is {value}, expected at least 0", "count from the start")
    given, length = n.shape[1], t.shape[1]
    if s is not None and isinstance(given, int) and s > given:
        ctx.error(f"'s' is {s}, but axis 1 of 'new' has {given} positions", "write no more than there are")
    last = (cur_pos or 0) + (s or 0)
    if isinstance(length, int) and last > length:
        ctx.error(
            f"positions [{cur_pos or 0}, {last}) exceed axis 1 of 'cache', of extent {length}",
            "use a longer cache, or write fewer positions",
        )
