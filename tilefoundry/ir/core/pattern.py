"""Patterns: what an op's schema asks of an operand, and which extents a specialisation serves."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError, WrongValueError


@dataclass(frozen=True, slots=True)
class Pattern:
    """Base of all patterns. The front end matches them against operand types; see `tilefoundry.ir.types.matches`."""


@dataclass(frozen=True, slots=True)
class ScalarPat(Pattern):
    """A rank-0 tensor."""


@dataclass(frozen=True, slots=True)
class TensorPat(Pattern):
    """A tensor, of this rank and dtype name where they are given."""

    rank: int | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class AndPat(Pattern):
    """All of several patterns."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class DimVarRangePat(Pattern):
    """The extents lo <= dim_var < hi of the DimVar of this name.

    Raises:
        WrongTypeError: a bound is not a plain int, or the name is not a string.
        WrongValueError: the range is empty.
    """

    dim_var: str
    lo: int
    hi: int

    def __post_init__(self) -> None:
        if not isinstance(self.dim_var, str) or not self.dim_var:
            raise WrongTypeError(
                f"DimVarRangePat: dim_var must be a DimVar's name, got {self.dim_var!r}",
                remedy='write DimVarRangePat("S", 1, 5)',
            )
        for bound in (self.lo, self.hi):
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise WrongTypeError(
                    f"DimVarRangePat '{self.dim_var}': bounds must be plain ints, got {bound!r}",
                    remedy='write DimVarRangePat("S", 1, 5)',
                )
        if self.lo >= self.hi:
            raise WrongValueError(
                f"DimVarRangePat '{self.dim_var}': [{self.lo}, {self.hi}) is empty",
                remedy="write lo < hi: the upper bound is excluded",
            )
