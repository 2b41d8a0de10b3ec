"""How many bytes a tensor's storage takes."""

from __future__ import annotations

from tilefoundry.ir.shard import Layout, ShardLayout, cosize, row_major
from tilefoundry.ir.types import TensorType

ALIGNMENT = 128  # of every shared tile, in bytes: what bulk copies and swizzles ask for


def storage_layout(type_: TensorType) -> Layout:
    """Where the elements of a tile lie: row-major unless its type says otherwise; a sharded tile's own strides."""
    if isinstance(type_.layout, ShardLayout):
        return type_.layout.layout
    if type_.layout is None:
        return row_major(type_.shape)
    assert isinstance(type_.layout, Layout)
    return type_.layout


def storage_bytes(type_: TensorType) -> int:
    """Bytes from the first to the last element of a plain static tile, padding included, rounded up to ALIGNMENT."""
    span = cosize(storage_layout(type_))
    assert isinstance(span, int)
    return -(-span * type_.dtype.storage_bits // 8 // ALIGNMENT) * ALIGNMENT
