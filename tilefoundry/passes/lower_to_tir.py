"""From HIR to TIR: the entry becomes one kernel, op by op (see ``lower/``); a prototype one for each variant, and a
chain of calls of placed functions one for each call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction, fold
from tilefoundry.ir.verify import meshes_named
from tilefoundry.passes.base import CALL_FREE, HIR, TILES, TIR, Pass, every_cta, every_thread, placement_of
from tilefoundry.passes.chain import kernel_calls, lower_chain
from tilefoundry.passes.inline_functions import without_calls
from tilefoundry.passes.lower import lower_function
from tilefoundry.passes.place import is_unplaced, levels_of, place_function
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
            inputs, outputs, items, _ = lower_function(module, fn, isinstance(target, CudaTarget))
            whole = tuple(mesh for mesh in (every_thread(module), every_cta(module)) if mesh is not None)
            placed_on = ExecutionDomainMetadata((*whole, *meshes_named(fn)))
            return PrimFunction(name, (*inputs, *outputs), fold(items), len(outputs), metadata=(placed_on,))

        def lower_any(fn: Function, name: str) -> tuple[PrimFunction, ...]:
            return lower_chain(fn, name, lower_one) if kernel_calls(fn) else (lower_one(fn, name),)

        def lower_variant(fn: Function, name: str) -> tuple[PrimFunction, ...]:
            # What a variant calls is known now that its extents are; so is what it can be placed as.
            fn = replace(without_calls(fn), name=name)
            return lower_any(place_function(fn, levels_of(module, target))[0] if is_unplaced(fn) else fn, name)

        functions = lower_variants(entry, lower_variant) if entry.is_prototype else lower_any(entry, entry.name)
        return Module(
            name=module.name,
            functions=functions,
            entry=entry.name,
            target=placement_of(module, target),
            topologies=module.effective_topologies(),
        )
