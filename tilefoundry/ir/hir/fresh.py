"""The strides of a value that an op makes."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import Layout, ShardLayout, c_order_strides, per_unit_strides, shared_strides, with_strides
from tilefoundry.ir.types import StorageKind


def lies_apart(storage: StorageKind) -> bool:
    """Whether each unit holds its own elements: registers, and what has no residency yet."""
    return storage in (StorageKind.RMEM, StorageKind.UMAT)


def fresh_plain(shape: Sequence[Dim], storage: StorageKind) -> Layout:
    """The layout of a fresh unsharded value: row-major; in registers, axes of extent 1 have stride 0."""
    strides = c_order_strides(shape)
    if lies_apart(storage):
        strides = tuple(0 if e == 1 else s for e, s in zip(shape, strides, strict=True))
    return Layout(tuple(shape), strides)


def fresh_strides(sl: ShardLayout, storage: StorageKind) -> ShardLayout:
    """The same placement with the strides of a fresh value in this storage."""
    return with_strides(sl, per_unit_strides(sl) if lies_apart(storage) else shared_strides(sl))
