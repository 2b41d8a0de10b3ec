"""Rope: rotary position embedding of queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_mod, dim_product
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.common import float_operand, merge_storage, tensor_operand
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.propagate import Label, Placed, propagate
from tilefoundry.ir.shard import Broadcast, Partial, ShardAttr
from tilefoundry.ir.types import DType, TensorType, TupleType


@register_op(category="attention")
@dataclass(frozen=True, slots=True)
class Rope(Op):
    """Rotates pairs of elements of `q` and `k` by angles that grow with the position; returns both.

    Element i of the last axis and element i + D/2 are a pair: ``x * cos + rotate_half(x) * sin`` with
    ``rotate_half(x) = concat(-x[D/2:], x[:D/2])``, where cos and sin are the rows ``pos_ids`` of the caches.
    Computed in f32 (f64 for f64) and rounded once to the dtype of each operand.

    Shapes: q (*A, S, H, D), k (*A, S, Hkv, D), cos_cache (P, D), sin_cache (P, D), pos_ids (*I) ->
        (*A, S, H, D), (*A, S, Hkv, D)

    `pos_ids` are S integers in any shape, positions below P. The rows are broadcast as (S, 1, D). D is even. The caches
    have the dtype of `q` or f32.
    Source: Su et al., "RoFormer" (2021), in the half-split form of GPT-NeoX.
    """

    q: ClassVar[ParamDef] = ParamDef()
    k: ClassVar[ParamDef] = ParamDef()
    cos_cache: ClassVar[ParamDef] = ParamDef()
    sin_cache: ClassVar[ParamDef] = ParamDef()
    pos_ids: ClassVar[ParamDef] = ParamDef()

    def type_rule(  # type: ignore[override]
        self,
        ctx: TypeContext,
        q: Expr | int,
        k: Expr | int,
        cos_cache: Expr | int,
        sin_cache: Expr | int,
        pos_ids: Expr | int,
    ) -> TupleType:
        """The types of `q` and `k`. A Partial sum passes where the caches are replicated: the rotation is linear."""
        rotated = [(n, float_operand(ctx, n, e)) for n, e in (("q", q), ("k", k))]
        caches = [(n, float_operand(ctx, n, e)) for n, e in (("cos_cache", cos_cache), ("sin_cache", sin_cache))]
        positions = tensor_operand(ctx, "pos_ids", pos_ids)
        for name, t in rotated:
            if t.rank < 3:
                ctx.error(f"'{name}' must have the shape (..., length, heads, width), got {t}", "reshape it")
            whole_axis(ctx, name, t, t.rank - 1, "rotated")
        width, length = rotated[0][1].shape[-1], rotated[0][1].shape[-3]
        if not dim_equal(dim_mod(width, 2), 0):
            ctx.error(f"the last axis must be known to be even, got {rotated[0][1]}", "its halves are rotated together")
        equal_extents(ctx, "the widths of 'q' and 'k'", width, rotated[1][1].shape[-1])
        equal_extents(ctx, "the lengths of 'q' and 'k'", length, rotated[1][1].shape[-3])
        for name, t in caches:
            if t.rank != 2:
                ctx.error(f"'{name}' must have the shape (positions, width), got {t}", "reshape it")
            if t.dtype not in (rotated[0][1].dtype, DType.f32):
                ctx.error(f"'{name}' must be of {rotated[0][1].dtype}, as 'q', or of f32, got {t.dtype}", "cast it")
            equal_extents(ctx, f"the widths of 'q' and '{name}'", width, t.shape[-1])
            whole_axis(ctx, name, t, 0, "gathered")
            whole_axis(ctx, name, t, 1, "rotated")
        equal_extents(ctx, "the positions of both caches", caches[0][1].shape[0], caches[1][1].shape[0])
        if not positions.dtype.is_integer:
            ctx.error(f"'pos_ids' must be of integers, got {positions.dtype}", 'cast it, tf.cast(pos_ids, "i32")')
        equal_extents(ctx, "the length of 'q' and the number of 'pos_ids'", length, dim_product(positions.shape))
        return TupleType(tuple(_rotated(ctx, n, t, caches, positions) for n, t in rotated))


def _rotated(
    ctx: TypeContext, name: str, t: TensorType, caches: Sequence[tuple[str, TensorType]], positions: TensorType
) -> TensorType:
    labels = tuple(range(t.rank))
    operands = (
        Placed(name, t, labels),
        *(Placed(n, cache, (None, None)) for n, cache in caches),
        Placed("pos_ids", positions, _along(positions.shape, t.rank - 3)),
    )
    storage = merge_storage(ctx, [operand.type for operand in operands])
    layout = propagate(ctx, operands, labels, t.shape, storage, partial_rule=_linear)
    return TensorType(t.shape, t.dtype, layout, storage)


def _along(shape: Sequence[Dim], length: int) -> tuple[Label, ...]:
    """The one axis of `pos_ids` that is longer than 1 runs along the length; with several, none does."""
    long_axes = [axis for axis, extent in enumerate(shape) if extent != 1]
    return tuple(length if [axis] == long_axes else None for axis in range(len(shape)))


def _linear(states: Sequence[ShardAttr]) -> Partial | None:
    rotated, *others = states
    passes = rotated == Partial("sum") and all(isinstance(other, Broadcast) for other in others)
    return Partial("sum") if passes else None
