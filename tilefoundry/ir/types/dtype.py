"""Element types: a closed set of immutable singletons, reached as ``DType.f32``."""

from __future__ import annotations

import builtins
import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError

# The closed set: name to the facts after it, in the order of the fields.
_FACTS: dict[str, tuple[int, ...]] = {
    "f64": (64, 11, 52), "f32": (32, 8, 23), "f16": (16, 5, 10), "bf16": (16, 8, 7),
    "fp8e4m3": (8, 4, 3), "fp8e5m2": (8, 5, 2), "f8e8m0": (8, 8, 0), "f4e2m1": (4, 2, 1),
    "i64": (64, True), "i32": (32, True), "i16": (16, True), "i8": (8, True), "u8": (8, False), "bool": (1,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DType:
    """An element type. `name` is the attribute spelling, `bits` the size of one element.

    The set is closed: use `DType.f32` and its like, or `DType.from_name`.

    Raises:
        WrongValueError: no dtype has this name and these facts.
    """

    name: str
    bits: int

    if TYPE_CHECKING:  # else each dtype would have all others among its dataclass fields, for printers to follow
        f64: ClassVar[FloatDType]
        f32: ClassVar[FloatDType]
        f16: ClassVar[FloatDType]
        bf16: ClassVar[FloatDType]
        fp8e4m3: ClassVar[FloatDType]
        fp8e5m2: ClassVar[FloatDType]
        f8e8m0: ClassVar[FloatDType]
        f4e2m1: ClassVar[FloatDType]
        i64: ClassVar[IntegerDType]
        i32: ClassVar[IntegerDType]
        i16: ClassVar[IntegerDType]
        i8: ClassVar[IntegerDType]
        u8: ClassVar[IntegerDType]
        bool: ClassVar[BoolDType]

    def __post_init__(self) -> None:
        facts = tuple(getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "name")
        if _FACTS.get(self.name) != facts:
            raise WrongValueError(
                f"there is no dtype {self.name!r} of {facts}: the set is closed",
                remedy=f"use one of {', '.join(_FACTS)}",
            )

    @staticmethod
    def from_name(name: str) -> DType:
        """The dtype of this name.

        Raises:
            WrongTypeError: `name` is not a string.
            WrongValueError: no dtype has this name.
        """
        if not isinstance(name, str):
            raise WrongTypeError(
                f"DType.from_name: expected a string, got {name!r}", remedy='write it as a string, e.g. "f32"'
            )
        if name not in _BY_NAME:
            raise WrongValueError(f"unknown dtype {name!r}", remedy=f"use one of {', '.join(_BY_NAME)}")
        return _BY_NAME[name]

    @property
    def is_float(self) -> builtins.bool:
        """Whether this is a floating-point type."""
        return isinstance(self, FloatDType)

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is an integer type (bool is not)."""
        return isinstance(self, IntegerDType)

    def __reduce__(self) -> tuple[object, ...]:
        return DType.from_name, (self.name,)  # copies and pickles stay singletons

    @property
    def storage_bits(self) -> int:
        """The size of one element in a buffer: a bool takes a byte there, types below a byte are packed."""
        return 8 if isinstance(self, BoolDType) else self.bits

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FloatDType(DType):
    """A floating-point type with this many exponent and mantissa bits."""

    exponent: int
    mantissa: int


@dataclass(frozen=True, slots=True)
class IntegerDType(DType):
    """A two's complement or unsigned integer type."""

    signed: bool

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1


@dataclass(frozen=True, slots=True)
class BoolDType(DType):
    """A truth value."""


_CLASSES: dict[int, type[DType]] = {3: FloatDType, 2: IntegerDType, 1: BoolDType}
_BY_NAME: dict[str, DType] = {name: _CLASSES[len(facts)](name, *facts) for name, facts in _FACTS.items()}
for _name, _dtype in _BY_NAME.items():
    setattr(DType, _name, _dtype)


def resolve_dtype(value: DType | str) -> DType:
    """A dtype, given itself or its name.

    Raises:
        WrongTypeError, WrongValueError: as `DType.from_name`.
    """
    return value if isinstance(value, DType) else DType.from_name(value)
