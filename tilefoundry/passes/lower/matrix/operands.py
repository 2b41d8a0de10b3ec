"""Operands of products in global memory: windows of their matrices, in the order in which memory has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.hir import Arange, BinaryKind, Cast, Transpose, Unary
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.types import DType, TensorType, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.tile import window
from tilefoundry.passes.lower.values import Scalar

_AS_STORED = ("shape", "index", "create", "shard")  # categories of ops whose values are elements that lie somewhere


@dataclass(frozen=True, slots=True)
class Matrices:
    """An operand (..., rows, columns), or its transpose where memory has the columns one after the other.

    Attributes:
        x: (..., rows, columns); with `turned` it is (..., columns, rows).
    """

    p: Primitives
    x: Expr
    turned: bool

    @staticmethod
    def of(p: Primitives, x: Expr) -> Matrices:
        """The operand as memory has it."""
        swapped = _swapped(p, x)
        return Matrices(p, x, False) if swapped is None else Matrices(p, swapped, True)

    @property
    def batch(self) -> tuple[Dim, ...]:
        """The extents of the axes before the last two."""
        return tensor_type(self.x).shape[:-2]

    @property
    def computed(self) -> bool:
        """Whether elements are computed, from others that lie somewhere."""
        return is_computed(self.x)

    def window(
        self, starts: Sequence[Scalar], sizes: Sequence[int], at: tuple[Scalar, Scalar], extents: tuple[int, int]
    ) -> Expr:
        """A window of `sizes` along the batch axes, at a row and a column; turned if the operand is.

        Axes of extent 1 stand for all places along them. The batch axes of size 1 are dropped.
        """
        lacks = len(starts) - len(self.batch)
        once = [extent == 1 for extent in self.batch]
        begin = [0 if one else start for one, start in zip(once, starts[lacks:], strict=True)]
        own = [1 if one else size for one, size in zip(once, sizes[lacks:], strict=True)]
        step = -1 if self.turned else 1
        drop = tuple(axis for axis, size in enumerate(own) if size == 1)
        return window(self.p, self.x, (*begin, *at[::step]), (*own, *extents[::step]), drop)


def is_computed(x: Expr) -> bool:
    """Whether a value is the result of arithmetic, and not elements of a tensor as they lie there."""
    while isinstance(x, Call) and isinstance(x.target, Op) and x.target.category in _AS_STORED and x.args:
        first = x.args[0]
        if not isinstance(first, Expr):
            return False
        x = first
    return isinstance(x, Call) and isinstance(x.target, Op) and x.target.category not in _AS_STORED


def _swapped(p: Primitives, x: Expr) -> Expr | None:
    """The transpose of the last two axes of a value, where memory has that; None where it has the value itself."""
    if not isinstance(x, Call):
        return None
    (inner, *others) = x.args or (None,)
    if isinstance(x.target, (Cast, Unary)) and isinstance(inner, Expr):
        swapped = _swapped(p, inner)
        return None if swapped is None else p.call(x.target, swapped)
    if not isinstance(x.target, Transpose) or others or not isinstance(inner, Expr):
        return None
    perm = [normalize_axis(axis, tensor_type(inner).rank) for axis in x.target.perm]
    while isinstance(inner, Call) and isinstance(inner.target, Transpose) and isinstance(inner.args[0], Expr):
        own = [normalize_axis(axis, len(perm)) for axis in inner.target.perm]
        perm, inner = [own[axis] for axis in perm], inner.args[0]
    if perm[-2] != len(perm) - 1:
        return None
    perm[-2:] = perm[:-3:-1]
    return inner if perm == sorted(perm) else p.call(Transpose(tuple(perm)), inner)


def zero_beyond(p: Primitives, x: Expr, ramp: Expr, first: Scalar, extent: Dim) -> Expr:
    """`x`, and zeros where the index along an axis, `ramp` after the `first`, is not below the extent."""
    index = ramp if first == 0 else p.add(ramp, _scalar(p, first))
    inside = p.binary(BinaryKind.LT, index, _scalar(p, extent))
    return p.where(inside, x, 0.0 if tensor_type(x).dtype.is_float else 0)


def ramp_along(p: Primitives, extent: int, axis: int, rank: int) -> Expr:
    """0, 1, 2, ... along one axis of several."""
    numbers = p.call(Arange(make_tensor_type((extent,), "i32")))
    return p.reshape(numbers, tuple(extent if k == axis else 1 for k in range(rank)))


def _scalar(p: Primitives, value: Dim) -> Expr:
    if isinstance(value, int):
        return Constant(value, TensorType.umat_scalar(DType.i32))
    return p.call(Cast(DType.i32), value)
