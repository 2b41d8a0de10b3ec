"""Types that only TIR has."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.core.type import Type
from tilefoundry.ir.types import DType, StorageKind


@dataclass(frozen=True, slots=True)
class PointerType(Type):
    """The address of the first element of a tensor: it knows element type and memory, and no shape."""

    dtype: DType
    storage: StorageKind

    def __str__(self) -> str:
        return f"Pointer[{self.dtype}, {self.storage}]"
