"""Where the result of an elementwise op lies."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.derive import PartialRule, no_partial
from tilefoundry.ir.hir.fresh import fresh_strides
from tilefoundry.ir.hir.modes import modes_of
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import Partial, ShardLayout
from tilefoundry.ir.types import AnyLayout, StorageKind, TensorType


def elementwise_layout(
    ctx: TypeContext,
    names: Sequence[str],
    types: Sequence[TensorType],
    shape: Sequence[Dim],
    storage: StorageKind,
    partial_rule: PartialRule = no_partial,
) -> AnyLayout | None:
    """The layout of an elementwise result of this broadcast shape.

    Operands with one and the same placement keep it even when its modes straddle the axes (as those of some MMA
    fragments do); else placements are matched axis by axis.
    """
    same = _shared_placement(types, shape)
    if same is not None and not any(isinstance(a, Partial) for a in same.attrs) and modes_of(same, shape) is None:
        return fresh_strides(same, storage)
    operands = []
    for name, t in zip(names, types, strict=True):
        first = len(shape) - t.rank
        labels = tuple(None if e == 1 != shape[first + k] else first + k for k, e in enumerate(t.shape))
        operands.append(Placed(name, t, labels))
    return propagate(ctx, operands, tuple(range(len(shape))), shape, storage, partial_rule=partial_rule)


def _shared_placement(types: Sequence[TensorType], shape: Sequence[Dim]) -> ShardLayout | None:
    """The placement that all operands of the full shape have, where the others are scalars."""
    full = [t for t in types if t.rank]
    layouts = [t.layout for t in full if isinstance(t.layout, ShardLayout) and t.shape == tuple(shape)]
    if not layouts or len(layouts) != len(full):
        return None
    first = layouts[0]
    same = all(sl.shape == first.shape and sl.attrs == first.attrs and sl.mesh == first.mesh for sl in layouts)
    return first if same else None
