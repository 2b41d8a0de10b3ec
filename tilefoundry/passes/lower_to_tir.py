"""From HIR to TIR: the entry becomes one kernel, op by op (see ``lower/``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction, fold
from tilefoundry.passes.base import CALL_FREE, HIR, TILES, TIR, Pass, placement_of
from tilefoundry.passes.lower import lower_function
from tilefoundry.target import CudaTarget, Target


@dataclass(frozen=True)
class LowerToTir(Pass):
    """Makes a kernel of the entry. Loads are not in pipelines yet, and nothing orders accesses to shared memory.

    Raises:
        VerifyError: when it runs: the placement cannot be compiled; says what and where.
    """

    name: ClassVar[str] = "lower-to-tir"
    requires: ClassVar[frozenset[str]] = frozenset({HIR, CALL_FREE})
    establishes: ClassVar[frozenset[str]] = frozenset({TIR, TILES})
    invalidates: ClassVar[frozenset[str]] = frozenset({HIR})

    def run(self, module: Module, target: Target) -> Module:
        """A Module of the same name, topologies and entry that holds the kernel, for what the program is placed for."""
        entry = module.entry_function()
        assert isinstance(entry, Function)  # of a Module of HIR
        inputs, outputs, items, _ = lower_function(module, entry, isinstance(target, CudaTarget))
        return Module(
            name=module.name,
            functions=(PrimFunction(entry.name, (*inputs, *outputs), fold(items), len(outputs)),),
            entry=entry.name,
            target=placement_of(module, target),
            topologies=module.effective_topologies(),
        )
