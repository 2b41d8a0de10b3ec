"""How many bytes a tensor's storage takes."""

from __future__ import annotations

from tilefoundry.ir.shard import Layout, cosize
from tilefoundry.ir.types import TensorType

ALIGNMENT = 128  # of every shared tile, in bytes: what bulk copies and swizzles ask for


def storage_bytes(type_: TensorType) -> int:
    """Bytes from the first to the last element of a plain static tile, padding included, rounded up to ALIGNMENT."""
    assert isinstance(type_.layout, Layout)
    span = cosize(type_.layout)
    assert isinstance(span, int)
    return -(-span * type_.dtype.storage_bits // 8 // ALIGNMENT) * ALIGNMENT
