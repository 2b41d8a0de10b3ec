"""How many bytes a tensor's storage takes, and where it may start."""

from __future__ import annotations

from tilefoundry.ir.shard import ComposedLayout, Layout, Swizzle, cosize
from tilefoundry.ir.types import TensorType

_ALIGNMENT = 128  # of every shared tile, in bytes: what bulk copies ask for


def alignment(type_: TensorType) -> int:
    """Bytes of which a shared tile's address is a multiple: at least the period of its swizzle."""
    layout = type_.layout
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        return max(_ALIGNMENT, layout.inner.period * type_.dtype.storage_bits // 8)
    return _ALIGNMENT


def storage_bytes(type_: TensorType) -> int:
    """Bytes from the first to the last element of a static tile, padding included, rounded up to its alignment."""
    layout = type_.layout.outer if isinstance(type_.layout, ComposedLayout) else type_.layout
    assert isinstance(layout, Layout)
    step = alignment(type_)
    return -(-cosize(layout) * type_.dtype.storage_bits // 8 // step) * step
