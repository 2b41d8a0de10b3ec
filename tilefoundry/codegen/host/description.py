"""What a library says about itself."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.codegen.unit import KernelUnit, LinkableModule
from tilefoundry.runtime.abi import EntryABI, KernelLaunch
from tilefoundry.runtime.abi_json import Json, describe_library
from tilefoundry.target import CudaTarget, Target


def describe_units(units: Sequence[KernelUnit], target: Target, entry: EntryABI) -> Json:
    """The description that the host entry carries: entry, kernels and target."""
    launches = tuple(KernelLaunch(u.name, u.grid, u.tiles, u.block, u.shared_bytes, u.grid_barrier) for u in units)
    isa = target.arch if isinstance(target, CudaTarget) else target.isa  # type: ignore[attr-defined]  # a CpuTarget
    return describe_library(entry, launches, target.name, target.canonical_text(), isa)


def describe_module(module: LinkableModule) -> Json:
    """The description of a module's library, before it is built."""
    return describe_units(module.units, module.target, module.entry)
