"""CpuTarget: a fixed instruction set, never the machine's own."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
    # The one instruction set of a family, by what the platform module calls its machines.
    DEFAULTS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "aarch64", "arm64": "aarch64"}
    )

    isa: str = "x86-64-v3"

    def __post_init__(self) -> None:
        if not isinstance(self.isa, str):
            raise WrongTypeError(
                f"CpuTarget: isa must be a string, got {self.isa!r}", remedy=f"use one of {', '.join(self.ISAS)}"
            )
        if self.isa not in self.ISAS:
            raise WrongValueError(f"CpuTarget: unknown isa {self.isa!r}", remedy=f"use one of {', '.join(self.ISAS)}")

    @classmethod
    def default(cls, machine: str | None = None) -> CpuTarget:
        """The target of a family of CPUs: a fixed one, whatever the CPU at hand can do besides.

        Args:
            machine: what `platform.machine` calls it; by default the one that this runs on.

        Raises:
            WrongValueError: there is no target for this family.
        """
        name = (machine if machine is not None else platform.machine()).lower()
        if name not in cls.DEFAULTS:
            raise WrongValueError(
                f"CpuTarget: no instruction set for machines of the kind {name!r}",
                remedy=f"use one of {', '.join(cls.DEFAULTS)}",
            )
        return cls(cls.DEFAULTS[name])

    @property
    def family(self) -> str:
        """The CPUs that the instruction set is one of: "x86-64" or "aarch64"."""
        return "x86-64" if self.isa.startswith("x86-64") else self.isa

    @property
    def levels(self) -> tuple[TopologyLevel, ...]:
        """CTAs, spread over a thread pool; the instances of one CTA."""
        return TopologyLevel("cta", None), TopologyLevel("thread", THREAD_LIMIT)

    def canonical_text(self) -> str:
        """Name and instruction set."""
        return f"cpu isa={self.isa}"
