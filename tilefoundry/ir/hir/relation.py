"""How an op walks its operands: which dimension of the iteration each axis is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AffineMap:
    """An axis whose index is ``offset`` plus the sum of coefficient * dimension.

    An int stands for the map that is one dimension, None for an axis that follows none. Any other map reads elements
    that a unit which holds a part of the dimension need not hold, such as the neighbours of a convolution: a halo.
    """

    terms: tuple[tuple[int, int], ...]  # (dimension, coefficient)
    offset: int = 0


AxisMap = int | None | AffineMap


@dataclass(frozen=True, slots=True)
class Relation:
    """Which dimension of the iteration each axis is.

    Attributes:
        inputs: for each operand, a map for each of its axes.
        output: a map for each axis of the result.
        names: of the operands, for messages.
    """

    inputs: tuple[tuple[AxisMap, ...], ...]
    output: tuple[AxisMap, ...]
    names: tuple[str, ...] = ()

    def name_of(self, operand: int) -> str:
        """What messages call an operand."""
        return self.names[operand] if self.names else f"operand {operand}"


def dimension_of(axis: AxisMap) -> int | None:
    """The dimension that an axis is, or None where it is none, or is not read through the identity."""
    if not isinstance(axis, AffineMap):
        return axis
    identity = axis.offset == 0 and len(axis.terms) == 1 and axis.terms[0][1] == 1
    return axis.terms[0][0] if identity else None
