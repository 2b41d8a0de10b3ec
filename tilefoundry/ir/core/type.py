"""The types that need no layout: the base class, tuples, effects."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types. Types are compared by structure."""


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """The type of several values at once."""

    fields: tuple[Type, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.fields, tuple) or not all(isinstance(f, Type) for f in self.fields):
            raise WrongTypeError(
                f"TupleType: fields must be a tuple of types, got {self.fields!r}",
                remedy="write TupleType((a.type, b.type))",
            )

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))}{',' if len(self.fields) == 1 else ''})"


@dataclass(frozen=True, slots=True)
class IntLiteralType(Type):
    """The type of a plain int that stands among expressions as an index."""

    def __str__(self) -> str:
        return "int"


@dataclass(frozen=True, slots=True)
class UnitType(Type):
    """The type of an effect: no value."""

    def __str__(self) -> str:
        return "unit"


@dataclass(frozen=True, slots=True)
class CallableType(Type):
    """The type of a function."""

    return_type: Type
    parameters: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) -> {self.return_type}"
