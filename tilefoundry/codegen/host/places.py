"""Where the entry keeps each tensor of a call: parameters first, then the workspace, then counters of grid barriers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilefoundry.codegen.unit import KernelUnit
from tilefoundry.diagnostics import CompileError
from tilefoundry.runtime.abi import EntryABI, ParamABI

MAX_WORKSPACE = 4096  # with the counters: the host keeps some 200 bytes for each on its stack


@dataclass(frozen=True, slots=True)
class Places:
    """Indices into the entry's array ``bound``.

    Attributes:
        shared: tensors that several kernels may take: the host function's own.
        units: the launches, each of which may have a workspace of its own.
        views: which of the shared tensors are others of them under other extents, by name.

    Raises:
        CompileError: there are more tensors than the host keeps.
    """

    entry: EntryABI
    shared: tuple[ParamABI, ...]
    units: tuple[KernelUnit, ...]
    views: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.workspace) + bool(self.barriers)
        if count > MAX_WORKSPACE:
            raise CompileError(
                f"'{self.entry.name}' needs {count} tensors of its own, at most {MAX_WORKSPACE} are kept"
            )

    @property
    def workspace(self) -> tuple[ParamABI, ...]:
        """What the call allocates, in order of place."""
        return (*self.shared, *(param for unit in self.units for param in unit.workspace))

    def seen(self, view: ParamABI) -> int:
        """The place of the tensor that a view is of."""
        names = [param.name for param in (*self.entry.params, *self.shared)]
        return names.index(self.views[view.name])

    @property
    def barriers(self) -> tuple[KernelUnit, ...]:
        """The launches whose CTAs meet; each has its pair of counters."""
        return tuple(unit for unit in self.units if unit.grid_barrier)

    def barrier(self, unit: KernelUnit) -> int:
        """Which pair of counters a launch has."""
        return next(k for k, other in enumerate(self.barriers) if other is unit)

    @property
    def counters(self) -> int:
        """The place of the counters, after everything else."""
        return len(self.entry.params) + len(self.workspace)

    @property
    def count(self) -> int:
        """How many places there are."""
        return self.counters + bool(self.barriers)

    def of(self, unit: KernelUnit) -> list[tuple[ParamABI, int]]:
        """What a launch takes, in the kernel's order, with the place of each.

        Raises:
            CompileError: the entry has no such parameter.
        """
        known: Sequence[ParamABI] = (*self.entry.params, *self.shared)
        index = {param.name: place for place, param in enumerate(known)}
        for param in unit.abi.params:
            if param.name not in index:
                raise CompileError(
                    f"kernel '{unit.name}' takes '{param.name}', which is no parameter of '{self.entry.name}'"
                )
        before = len(known)
        for other in self.units:
            if other is unit:
                break
            before += len(other.workspace)
        taken = [(param, index[param.name]) for param in unit.abi.params]
        return taken + [(param, before + k) for k, param in enumerate(unit.workspace)]
