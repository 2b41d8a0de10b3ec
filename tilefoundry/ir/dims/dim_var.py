"""DimVar: an extent known at run time only, in a half-open envelope."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr, init_expr
from tilefoundry.ir.dims.ops import dim_operator
from tilefoundry.ir.types.tensor import INDEX_TYPE


@dataclass(frozen=True, slots=True, eq=False, init=False)
class DimVar(Expr):
    """A symbolic extent: an integer in [lo, hi). There is one instance for each (name, lo, hi).

    Supports ``+ - * // %`` with ints, DimVars and dim expressions on both sides.

    Raises:
        WrongTypeError: the name is not a non-empty string, or a bound is not a plain int.
        WrongValueError: the envelope is empty, or the name holds white space or ``=``.
    """

    name: str
    lo: int
    hi: int

    def __new__(cls, name: str, lo: int, hi: int) -> DimVar:
        if not isinstance(name, str) or not name:
            raise WrongTypeError(
                f"DimVar: name must be a non-empty string, got {name!r}", remedy='write DimVar("S", 1, 4097)'
            )
        if any(c.isspace() or c == "=" or not c.isprintable() for c in name):
            raise WrongValueError(
                f"DimVar: name {name!r} holds white space or '=', so that --dim NAME=EXTENT cannot bind it",
                remedy="use a name such as 'seq_len'",
            )
        for bound in (lo, hi):
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise WrongTypeError(
                    f"DimVar '{name}': bounds must be plain ints, got {bound!r}", remedy='write DimVar("S", 1, 4097)'
                )
        if lo >= hi:
            raise WrongValueError(
                f"DimVar '{name}': expected lo < hi, got the empty envelope [{lo}, {hi})",
                remedy="the upper bound is excluded: DimVar('S', 1, 2) is 1",
            )
        known = _INSTANCES.get((name, lo, hi))
        if known is not None:
            return known
        self = object.__new__(cls)
        for attribute, value in (("name", name), ("lo", lo), ("hi", hi)):
            object.__setattr__(self, attribute, value)
        init_expr(self, INDEX_TYPE, ())
        return _INSTANCES.setdefault((name, lo, hi), self)

    def __reduce__(self) -> tuple[object, ...]:
        return DimVar, (self.name, self.lo, self.hi)

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.lo, self.hi)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return self.name

    def __add__(self, other: object) -> object:
        return dim_operator("+", self, other)

    def __radd__(self, other: object) -> object:
        return dim_operator("+", other, self)

    def __sub__(self, other: object) -> object:
        return dim_operator("-", self, other)

    def __rsub__(self, other: object) -> object:
        return dim_operator("-", other, self)

    def __mul__(self, other: object) -> object:
        return dim_operator("*", self, other)

    def __rmul__(self, other: object) -> object:
        return dim_operator("*", other, self)

    def __floordiv__(self, other: object) -> object:
        return dim_operator("//", self, other)

    def __rfloordiv__(self, other: object) -> object:
        return dim_operator("//", other, self)

    def __mod__(self, other: object) -> object:
        return dim_operator("%", self, other)

    def __rmod__(self, other: object) -> object:
        return dim_operator("%", other, self)


_INSTANCES: dict[tuple[str, int, int], DimVar] = {}
