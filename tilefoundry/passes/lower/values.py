"""What an HIR value is while it is lowered.

A value that some instance holds is a TIR ``Var``. The others are descriptions, written into a tensor once a reshard
says where: a window of a global tensor, one number everywhere, a ramp, several of these joined, a matrix product. A
rank-0 scalar stays an expression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.types import ShapeDim

Scalar = Expr | int


@dataclass(frozen=True, slots=True)
class Window:
    """A box of a global tensor: one start and one extent per axis, and the axes that the value lacks."""

    tensor: Var
    starts: tuple[Scalar, ...]
    sizes: tuple[ShapeDim, ...]
    drop: tuple[int, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The tensor's axes that the value has, in order."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.drop)


@dataclass(frozen=True, slots=True)
class Uniform:
    """The same number everywhere."""

    value: float | int | bool


@dataclass(frozen=True, slots=True)
class Ramp:
    """start + step * (coordinate along ``axis``)."""

    axis: int
    start: Scalar
    step: int

    def along(self, axis: int) -> Ramp:
        """The same ramp along another axis."""
        return replace(self, axis=axis)


@dataclass(frozen=True, slots=True)
class Join:
    """Values one after the other along ``axis``; a scalar is a part of extent 1."""

    axis: int
    parts: tuple[Value, ...]
    sizes: tuple[ShapeDim, ...]


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A value of the extents ``shape`` under others."""

    value: Value
    shape: tuple[ShapeDim, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The matrix product of two shared tiles, accumulated where it is placed; ``lhs`` may be a fragment."""

    lhs: Var
    rhs: Var


@dataclass(frozen=True, slots=True)
class Chosen:
    """The elements of a window in global memory at the indices that another one holds, along an axis of it.

    ``index`` has one axis, with an index for each row, or the axes of ``source``, with one for each element.
    """

    source: Window
    index: Window
    axis: int


@dataclass(frozen=True, slots=True)
class Deferred:
    """A box of the value of an op on global tensors, which is computed where it is placed (``deferred.py``).

    ``part`` is the number of the value, ``steps`` has for each axis a number that divides its start. ``ends`` has for
    each axis the place from which on elements are zero, or None where they may be anything.
    """

    call: Call
    part: int
    starts: tuple[Scalar, ...]
    sizes: tuple[ShapeDim, ...]
    steps: tuple[int, ...]
    drop: tuple[int, ...] = ()
    ends: tuple[ShapeDim | None, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes of the value that the box has, in order."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.drop)


@dataclass(frozen=True, slots=True)
class Parts:
    """The values of an op that has several."""

    values: tuple[Value, ...]


Unplaced = Uniform | Ramp | Join | Reshaped | Product
Carry = Var | Uniform  # a tensor, or what stands for one that has no elements
Value = Window | Chosen | Deferred | Unplaced | Parts | Var | Expr
