"""The type of a normalised tensor that parameters scale and shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.common import merge_storage
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.movement import is_split
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import format_int_tuple
from tilefoundry.ir.types import DType, TensorType


def scaled_type(ctx: TypeContext, x: TensorType, parameters: Sequence[tuple[str, TensorType]], axis: int) -> TensorType:
    """The type of `x`, whose axes from `axis` on are normalised, once each parameter fits these axes."""
    shape = x.shape[axis:]
    for name, t in parameters:
        if t.rank != len(shape) or not all(dim_equal(a, b) for a, b in zip(t.shape, shape, strict=True)):
            ctx.error(
                f"'{name}' must have the shape {format_int_tuple(shape)} of the normalised axes of {x}, got {t}",
                "reshape it, or normalise other axes",
            )
        if t.dtype not in (x.dtype, DType.f32):
            ctx.error(
                f"'{name}' must be of {x.dtype}, as 'x', or of f32, got {t.dtype}; dtypes never promote",
                f'cast it, tf.cast({name}, "{x.dtype}")',
            )
    storage = merge_storage(ctx, (x, *(t for _, t in parameters)))
    labels = tuple(range(x.rank))
    operands = (Placed("x", x, labels), *(Placed(name, t, labels[axis:]) for name, t in parameters))
    propagate(ctx, operands, labels, x.shape, storage)  # refuses parameters that are placed otherwise
    for name, t in parameters:
        for k in range(axis, x.rank):
            if is_split(t, k - axis) and not is_split(x, k):
                ctx.error(
                    f"axis {k - axis} of '{name}' is split over the mesh, and axis {k} of 'x' is not",
                    f"tf.reshard '{name}', so that each unit holds all of it",
                )
    return replace(identity_type(ctx, x, ()), storage=storage)
