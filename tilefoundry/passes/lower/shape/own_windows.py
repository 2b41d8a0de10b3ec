"""Windows that instances write to global memory, each at its own place or from its own copy of a value.

The window gets an axis for each mesh axis along which threads differ, and the tensor is seen with as many axes that
lead nowhere: so a fragment that is split over the threads is stored, as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.tir import TileStore
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.apart import apart
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.own import Axes
from tilefoundry.passes.lower.shape.windows import global_view
from tilefoundry.passes.lower.values import Scalar, Value


def store_window(
    ctx: Lowering, at: Call, value: Var, differ: Axes, output: Var, offsets: Sequence[Scalar], sizes: tuple[int, ...]
) -> None:
    """Emits what writes a fragment, or a tile of the CTA, to a window of a global tensor.

    Args:
        differ: the axes of threads along which the windows differ, in what they hold or in where they start.
        offsets, sizes: one for each axis of the tensor.
    """
    if differ and tensor_type(value).storage is StorageKind.SMEM:
        value = held_by_all(ctx, at, value, tensor_type(value))
    lifted = apart(ctx, at, value, differ)
    count = tensor_type(lifted).rank - tensor_type(value).rank
    if not count:
        ctx.emit(TileStore(sizes), value, output, Tuple(tuple(offsets)))
        return
    extents = tensor_type(lifted).shape[:count]
    shape = tensor_type(output).shape
    view = global_view(
        ctx,
        output,
        (None,) * count + tuple(range(len(shape))),
        (*extents, *shape),
        (0,) * count + (1,) * len(shape),
    )
    box = (*(extent for extent in extents if isinstance(extent, int)), *sizes)
    ctx.emit(TileStore(box), lifted, view, Tuple((0,) * count + tuple(offsets)))


def static_extents(ctx: Lowering, at: Expr, shape: tuple[ShapeDim, ...]) -> tuple[int, ...]:
    """The extents of a tile; symbolic ones are refused."""
    if not all(isinstance(extent, int) for extent in shape):
        ctx.refuse(
            at,
            f"a tile has static extents, got ({', '.join(map(format_dim, shape))})",
            remedy="walk the symbolic axis with `for i in tile(extent, step)`",
        )
    return tuple(extent for extent in shape if isinstance(extent, int))


def held_by_all(ctx: Lowering, at: Call, value: Value, type_: TensorType) -> Var:
    """A value in the registers of every thread; a fragment as it is."""
    from tilefoundry.passes.lower.shape.place import write

    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.RMEM:
        return value
    held = ctx.alloc("update", replace(type_, layout=None, storage=StorageKind.RMEM))
    write(ctx, at, value, held)
    return held


__all__ = ["held_by_all", "static_extents", "store_window"]
