"""CpuTarget: a fixed instruction set, never the machine's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.target.base import Target, TopologyLevel, register_target

THREAD_LIMIT = 1024  # as on CUDA, so that one placement is valid on both


@register_target
@dataclass(frozen=True, slots=True)
class CpuTarget(Target):
    """A CPU with at least this instruction set; a library for it is refused on a machine that lacks it.

    Raises:
        WrongTypeError: `isa` is no string.
        WrongValueError: `isa` is not one of `ISAS`.
    """

    name: ClassVar[str] = "cpu"
    ISAS: ClassVar[tuple[str, ...]] = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")

    isa: str = "x86-64-v3"

    def __post_init__(self) -> None:
        if not isinstance(self.isa, str):
            raise WrongTypeError(f"CpuTarget: isa must be a string, got {self.isa!r}")
        if self.isa not in self.ISAS:
            raise WrongValueError(f"CpuTarget: unknown isa {self.isa!r}", remedy=f"use one of {', '.join(self.ISAS)}")

    @property
    def levels(self) -> tuple[TopologyLevel, ...]:
        """CTAs, spread over a thread pool; the instances of one CTA."""
        return TopologyLevel("cta", None), TopologyLevel("thread", THREAD_LIMIT)

    def canonical_text(self) -> str:
        """Name and instruction set."""
        return f"cpu isa={self.isa}"
