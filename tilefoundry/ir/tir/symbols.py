"""Expressions that only TIR has: names of functions, and extents of parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr, Var, init_expr
from tilefoundry.ir.core.metadata import Metadata
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.types import DType, TensorType

EXTENT_TYPE = TensorType.umat_scalar(DType.i32)


@dataclass(frozen=True, slots=True)
class SymbolType(Type):
    """The type of a function's name; the verifier resolves it to the function's own."""

    def __str__(self) -> str:
        return "symbol"


@dataclass(frozen=True, slots=True, eq=False)
class SymbolRef(Expr):
    """A PrimFunction by name.

    Attributes:
        name: a function of the module, or the child module in which the name goes on.
        nested: the rest of the path, a function's name last.
    """

    name: str
    nested: tuple[str, ...] = ()
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nested", tuple(self.nested))
        for part in (self.name, *self.nested):
            if not isinstance(part, str) or not part:
                raise WrongTypeError(
                    f"SymbolRef: names must be non-empty strings, got {part!r}", remedy="give the name of a function"
                )
        init_expr(self, SymbolType(), self.metadata)

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.nested)

    def __str__(self) -> str:
        return ".".join((self.name, *self.nested))


@dataclass(frozen=True, slots=True, eq=False)
class ShapeOf(Expr):
    """The extent of an axis of a parameter, as the caller passed it: an i32 scalar.

    Raises:
        WrongTypeError: `param` is no tensor variable, or `axis` no plain int.
        WrongValueError: the parameter has no such axis.
    """

    param: Var
    axis: int
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.param, Var) or not isinstance(self.param.type, TensorType):
            raise WrongTypeError(
                f"ShapeOf: expected a tensor parameter, got {self.param!r}", remedy="give a parameter of the function"
            )
        if isinstance(self.axis, bool) or not isinstance(self.axis, int):
            raise WrongTypeError(
                f"ShapeOf: axis must be a plain int, got {self.axis!r}", remedy="count the axes of the parameter from 0"
            )
        if not 0 <= self.axis < self.param.type.rank:
            raise WrongValueError(
                f"ShapeOf: '{self.param.name}' of type {self.param.type} has no axis {self.axis}",
                remedy=f"use an axis from 0 to {self.param.type.rank - 1}",
            )
        init_expr(self, EXTENT_TYPE, self.metadata)

    @property
    def hidden_name(self) -> str:
        """The name of the hidden scalar parameter that carries this extent."""
        return f"{self.param.name}_shape_{self.axis}"

    def _key(self) -> tuple[object, ...]:
        return (self.param, self.axis)

    def __str__(self) -> str:
        return f"{self.param.name}.shape[{self.axis}]"
