"""What the emitter hands to the driver: kernel units and the library that they make.

A kernel unit is one translation unit: a target-neutral body and a thin wrapper, in its own C++ namespace.
A linkable module is every unit of one entry together with the host source that checks arguments and launches.
Both are plain text and numbers, so that an emitter needs neither a compiler nor a loader.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilefoundry.runtime.abi import EntryABI, ParamABI

if TYPE_CHECKING:
    from tilefoundry.ir.types import ShapeDim
    from tilefoundry.target import Target


def source_digest(source: str) -> str:
    """The digest that names a unit's namespace: 16 hex digits of the sha256 of its source text."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class LaunchCase:
    """When a kernel is launched: where an extent of the call lies in [lo, hi)."""

    extent: ShapeDim
    lo: int
    hi: int


@dataclass(frozen=True)
class KernelUnit:
    """One launch of a kernel: its source text, and what the host needs to launch it.

    Units of one name have one source, which is compiled once: launches of a kernel on other tensors.

    The object exports two C symbols, ``<name>__vector`` and ``<name>__general``. The first assumes that every tensor is
    innermost contiguous with 16-byte aligned base and rows; the second assumes nothing about strides.

    Attributes:
        name: stem of the C symbols, and the name that launch errors use.
        digest: names the unit's namespace ``k_<digest>``; see `source_digest`.
        source: text of the translation unit.
        abi: every parameter that the kernel takes, outputs last. Names are those of the entry.
        grid: number of CTAs, or None when the host chooses it (a launch-provided topology level).
        tiles: number of work tiles over the entry's DimVars; with `grid` None the host launches
            ``min(tiles, what the device holds at once)`` CTAs, and none when it is zero.
        block: threads of a CTA.
        shared_bytes: dynamic shared memory of a CTA, in bytes.
        workspace: global tensors that the kernel needs for itself, behind its parameters in ``Args``; the host gives
            them memory at each call.
        grid_barrier: CTAs meet, so the host launches cooperatively; ``Args`` ends with the address of two counters.
        case: the extents that the kernel serves; None where it is launched in any case.
    """

    name: str
    digest: str
    source: str
    abi: EntryABI
    grid: ShapeDim | None
    tiles: ShapeDim
    block: int
    shared_bytes: int
    workspace: tuple[ParamABI, ...] = ()
    grid_barrier: bool = False
    case: LaunchCase | None = None

    @property
    def scalars(self) -> tuple[ParamABI, ...]:
        """The rank-0 inputs: plain values inside ``Args``, in parameter order, not ``GlobalArg<0>``."""
        return tuple(p for p in self.abi.input_params if not p.type.shape)

    @property
    def symbols(self) -> tuple[str, str]:
        """The C symbols of the vector and the general variant."""
        return f"{self.name}__vector", f"{self.name}__general"


@dataclass(frozen=True)
class LinkableModule:
    """Everything that one library is built from: all source text, no compiler yet.

    Attributes:
        target: what the units are compiled for.
        units: the launches of kernels, in this order.
        host_source: text of the host entry, see `tilefoundry.codegen.host.emit_host`.
        entry: the ABI of the exported function.
    """

    target: Target
    units: tuple[KernelUnit, ...]
    host_source: str
    entry: EntryABI

    @property
    def kernels(self) -> tuple[KernelUnit, ...]:
        """The first unit of each name: what is compiled."""
        return distinct(self.units)


def distinct(units: Sequence[KernelUnit]) -> tuple[KernelUnit, ...]:
    """The first unit of each name."""
    first: dict[str, KernelUnit] = {}
    for unit in units:
        first.setdefault(unit.name, unit)
    return tuple(first.values())
