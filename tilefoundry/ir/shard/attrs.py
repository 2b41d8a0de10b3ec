"""What each mesh axis does to a tensor."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError, WrongValueError

PARTIAL_REDUCTIONS = ("sum", "max", "min")


@dataclass(frozen=True, slots=True)
class ShardAttr:
    """Base of the attributes; a ShardLayout has one for each mesh axis."""


@dataclass(frozen=True, slots=True)
class Split(ShardAttr):
    """The units along this mesh axis hold different parts of layout mode `axis`."""

    axis: int

    def __post_init__(self) -> None:
        if isinstance(self.axis, bool) or not isinstance(self.axis, int):
            raise WrongTypeError(f"Split: axis must be a plain int, got {self.axis!r}", remedy="write S(0)")
        if self.axis < 0:
            raise WrongValueError(
                f"Split: axis must not be negative, got {self.axis}", remedy="count modes from the first: S(0)"
            )

    def __str__(self) -> str:
        return f"S({self.axis})"


@dataclass(frozen=True, slots=True)
class Broadcast(ShardAttr):
    """The units along this mesh axis hold equal copies."""

    def __str__(self) -> str:
        return "B"


@dataclass(frozen=True, slots=True)
class Partial(ShardAttr):
    """The value is the reduction of what the units along this mesh axis hold; a Reshard completes it."""

    reduction: str = "sum"

    def __post_init__(self) -> None:
        if self.reduction not in PARTIAL_REDUCTIONS:
            raise WrongValueError(
                f"Partial: reduction must be one of {PARTIAL_REDUCTIONS}, got {self.reduction!r}",
                remedy='write P("sum")',
            )

    def __str__(self) -> str:
        return f"P({self.reduction})"


@dataclass(frozen=True, slots=True)
class Dynamic(ShardAttr):
    """Which unit holds what is known at run time only."""

    def __str__(self) -> str:
        return "Dynamic"
