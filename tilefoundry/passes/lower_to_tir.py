"""From HIR to TIR: the entry becomes one kernel, op by op (see ``lower/``); a prototype one for each variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction, fold
from tilefoundry.passes.base import CALL_FREE, HIR, TILES, TIR, Pass, placement_of
from tilefoundry.passes.inline_functions import without_calls
from tilefoundry.passes.lower import lower_function
from tilefoundry.passes.variants import lower_variants
from tilefoundry.target import CudaTarget, Target


@dataclass(frozen=True)
class LowerToTir(Pass):
    """Makes a kernel of the entry, or of each variant of it, and then a host function that picks one.

    Loads are not in pipelines yet, and nothing orders accesses to shared memory.

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

        def lower_one(fn: Function, name: str) -> PrimFunction:
            inputs, outputs, items, _ = lower_function(module, without_calls(fn), isinstance(target, CudaTarget))
            return PrimFunction(name, (*inputs, *outputs), fold(items), len(outputs))

        functions = lower_variants(entry, lower_one) if entry.is_prototype else (lower_one(entry, entry.name),)
        return Module(
            name=module.name,
            functions=functions,
            entry=entry.name,
            target=placement_of(module, target),
            topologies=module.effective_topologies(),
        )
