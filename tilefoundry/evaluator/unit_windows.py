"""Slice and InsertSlice where units hold different values."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.agreement import agreed
from tilefoundry.evaluator.batched import mapped
from tilefoundry.evaluator.collect import sharing
from tilefoundry.evaluator.context import EvalContext
from tilefoundry.evaluator.placement import ownership, picked, placement_of
from tilefoundry.evaluator.shape.insert_slice import insert_slice
from tilefoundry.evaluator.shape.insert_slice import write_window as write_into
from tilefoundry.evaluator.shape.slice import slice_
from tilefoundry.evaluator.spread import Spread, Value, lift, settled, spreads
from tilefoundry.evaluator.units import Units
from tilefoundry.evaluator.windows import Window, read, window, write
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.hir import InsertSlice, Slice
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.types import TensorType


def read_window(
    ctx: EvalContext, units: Units, op: Slice, call: Call, values: tuple[Value, ...], active: torch.Tensor | None
) -> Value:
    """`Slice`: a window of its own for each unit where the starts differ."""
    x, starts = values
    assert isinstance(starts, tuple)
    if not any(isinstance(start, Spread) for start in starts):
        return mapped(units, "slice", lambda v: slice_(ctx, op, call, v), values)
    data = lift(units, x)
    sizes = tuple(ctx.extent(size) for size in op.sizes)
    at = window(
        units, "Slice window", starts, sizes, op.strides, data.shape[units.rank :],
        [b == "zero" for b in op.boundary], active, data.device,
    )  # fmt: skip
    result = read(units, data, at)
    kept = tuple(n for axis, n in enumerate(sizes) if axis not in op.drop)
    result = result.reshape(tuple(result.shape[: units.rank]) + kept)
    assert isinstance(call.type, TensorType)
    placement = placement_of(units, call.type, kept, ctx.extent)
    return settled(units, picked(units, placement, result, placement.owners()))


def write_window(
    ctx: EvalContext,
    units: Units,
    op: InsertSlice,
    call: Call,
    values: tuple[Value, ...],
    active: torch.Tensor | None,
    in_place: bool,
) -> Value:
    """`InsertSlice`: units that share the memory of `dst` write their windows into one tensor, others into their own.

    Args:
        active: the units that write; None for all.
        in_place: nobody else reads `dst`.

    Raises:
        EvalError: units that share it hold different copies of `dst`, or write different values to one element.
        EvalValueError: a window leaves `dst` where it must not.
    """
    dst, update, offsets = values
    assert isinstance(offsets, tuple) and isinstance(call.args[0], Expr) and isinstance(call.args[0].type, TensorType)
    type_ = call.args[0].type
    name = binding_name(call)
    what = f"insert_slice{f' ({name})' if name else ''}"
    data, new = lift(units, dst), lift(units, update)
    sizes = tuple(ctx.extent(size) for size in op.sizes)
    if isinstance(type_.layout, ShardLayout):  # each unit has its own part of dst
        new = new.reshape(tuple(new.shape[: units.rank]) + sizes)
        if sizes != tuple(data.shape[units.rank :]):
            at = _window(units, what, op, offsets, sizes, data, active)
            extents = _own_copies(units, data, new, offsets, active, frozenset())
            data = data.expand(extents + tuple(data.shape[units.rank :])).clone()
            write(units, data, new, at, frozenset(), what)
            new = data
        placement = placement_of(units, type_, data.shape[units.rank :], ctx.extent)
        return settled(units, picked(units, placement, new, placement.owners()))
    shared = sharing(units, type_.storage)
    data = agreed(units, data, sorted(shared), f"{what}: dst")
    if active is None and not any(True for _ in spreads(offsets)):
        new = agreed(units, new, sorted(shared), f"{what}: update")
        parts = (settled(units, data), settled(units, new), offsets)
        if in_place and not any(True for _ in spreads(parts)):
            write_into(ctx, op, parts)
            return parts[0]
        return mapped(units, "insert_slice", lambda v: insert_slice(ctx, op, call, v), parts)
    new = new.reshape(tuple(new.shape[: units.rank]) + sizes)
    at = _window(units, what, op, offsets, sizes, data, active)
    at = _by_owners(ctx, units, call.args[1], sizes, offsets, at)
    extents = _own_copies(units, data, new, offsets, active, shared)
    if extents != tuple(data.shape[: units.rank]):
        data = data.expand(extents + tuple(data.shape[units.rank :])).clone()
    elif not in_place:
        data = data.clone()
    write(units, data, new, at, shared, what)
    return settled(units, data)


def _window(
    units: Units, what: str, op: InsertSlice, offsets: tuple[Value, ...], sizes: tuple[int, ...], data: torch.Tensor,
    active: torch.Tensor | None,
) -> Window:  # fmt: skip
    """Where the units write."""
    return window(
        units, what, offsets, sizes, (1,) * len(sizes), data.shape[units.rank :],
        [b == "clip" for b in op.boundary], active, data.device,
    )  # fmt: skip


def _by_owners(
    ctx: EvalContext, units: Units, update: Expr | int, sizes: tuple[int, ...], offsets: tuple[Value, ...], at: Window
) -> Window:
    """Of units whose windows start elsewhere, each writes the elements of the update that it owns."""
    assert isinstance(update, Expr) and isinstance(update.type, TensorType)
    placement = placement_of(units, update.type, ctx.shape(update.type), ctx.extent)
    contested = placement.owners() & {u for s in spreads(offsets) for u in s.varying}
    if not contested:
        return at
    mask = ownership(units, placement, contested, ctx.device)
    mask = mask.reshape(tuple(mask.shape[: units.rank]) + sizes)
    return Window(at.axes, mask if at.valid is None else at.valid & mask)


def _own_copies(
    units: Units,
    data: torch.Tensor,
    new: torch.Tensor,
    offsets: tuple[Value, ...],
    active: torch.Tensor | None,
    shared: frozenset[int],
) -> tuple[int, ...]:
    """The extents of the unit axes of the result: units that share the memory have one copy."""
    parts = [data, new, *(s.data for s in spreads(offsets)), *(() if active is None else (active,))]
    return tuple(1 if u in shared else max(part.shape[u] for part in parts) for u in range(units.rank))
