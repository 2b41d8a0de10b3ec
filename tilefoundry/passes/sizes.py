"""How many bytes a tensor's storage takes, and where it may start."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from types import MappingProxyType

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import Dim, DimAdd, DimMul, DimSub
from tilefoundry.ir.shard import ComposedLayout, Layout, ShardLayout, Swizzle, cosize, row_major
from tilefoundry.ir.types import TensorType

_ALIGNMENT = 128  # of every shared tile, in bytes: what bulk copies ask for
NOTHING_KNOWN: Mapping[Expr, int] = MappingProxyType({})


def alignment(type_: TensorType) -> int:
    """Bytes of which a shared tile's address is a multiple: at least the period of its swizzle."""
    layout = type_.layout
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        return max(_ALIGNMENT, layout.inner.period * type_.dtype.storage_bits // 8)
    return _ALIGNMENT


def storage_layout(type_: TensorType) -> Layout:
    """Where the elements of a tile lie, before any swizzle.

    Row-major unless its type says otherwise; a sharded tile's own strides.
    """
    if isinstance(type_.layout, ShardLayout):
        return type_.layout.layout
    if isinstance(type_.layout, ComposedLayout):
        assert type_.layout.outer is not None  # of shared tiles
        return type_.layout.outer
    if type_.layout is None:
        return row_major(type_.shape)
    assert isinstance(type_.layout, Layout)
    return type_.layout


def storage_bytes(type_: TensorType) -> int:
    """Bytes from the first to the last element of a static tile, padding included, rounded up to its alignment."""
    step = alignment(type_)
    return -(-cosize(storage_layout(type_)) * type_.dtype.storage_bits // 8 // step) * step


def known_multiple(offset: Dim, most: int = 16, multiples: Mapping[Expr, int] = NOTHING_KNOWN) -> int:
    """The greatest power of two, up to ``most``, that divides an offset whatever its variables are.

    Args:
        offset: an integer or an expression of integers.
        most: a power of two.
        multiples: what is known to divide some of its variables.
    """
    return gcd(_divisor(offset, multiples), most)


def _divisor(dim: Dim, multiples: Mapping[Expr, int]) -> int:
    match dim:
        case int() | Constant(value=int()):
            return dim if isinstance(dim, int) else dim.value  # type: ignore[return-value]  # which the case says
        case Call(target=DimMul(), args=(lhs, rhs)):
            return _divisor(lhs, multiples) * _divisor(rhs, multiples)
        case Call(target=DimAdd() | DimSub(), args=(lhs, rhs)):
            return gcd(_divisor(lhs, multiples), _divisor(rhs, multiples))
    return multiples.get(dim, 1)
