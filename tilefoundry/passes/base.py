"""What a pass is: a step from Module to Module that says what it needs, and what it leaves behind.

Facts are words. These are ours; a pass of somebody else's may add words of its own.

    hir           the entry is a function of HIR
    tir           every function is a kernel, or a host function, of TIR
    child-free    no function calls a child on the child's own weights
    call-free     no function calls another one, but for an entry that calls kernels, or picks one
    tiles         each shared tensor is an allocation of its own, not yet a place in the CTA's shared memory
    pipelined     every load into shared memory belongs to a pipeline, which waits for it
    synchronised  barriers stand where the instances of a CTA would otherwise race on shared memory
    planned       every shared tensor has its place in one span per CTA
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import replace
from typing import ClassVar

from tilefoundry.ir import tir
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import Layout, Mesh, Topology
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.target import CpuTarget, Target

HIR = "hir"
TIR = "tir"
CHILD_FREE = "child-free"
CALL_FREE = "call-free"
TILES = "tiles"
PIPELINED = "pipelined"
SYNCHRONISED = "synchronised"
PLANNED = "planned"


class Pass(ABC):
    """One step of a pipeline. Passes are values: `run` changes neither the pass nor the Module that it is given.

    Attributes:
        name: what error messages, dumps and `PassManager` call it; unique in a pipeline.
        requires: the facts that must hold of the Module that it is given.
        establishes: the facts that hold of the Module that it returns.
        invalidates: the facts that need not hold any more. All others are kept.
    """

    name: ClassVar[str]
    requires: ClassVar[Set[str]] = frozenset()
    establishes: ClassVar[Set[str]] = frozenset()
    invalidates: ClassVar[Set[str]] = frozenset()

    @abstractmethod
    def run(self, module: Module, target: Target) -> Module:
        """The Module after this step.

        Args:
            module: what it is placed for is its own target, where it declares one; see `placement_of`.
            target: what it is compiled for.

        Raises:
            VerifyError, CompileError: the program cannot take this step; says what and where.
        """


class KernelPass(Pass):
    """A pass that takes the kernels of a Module one by one, and leaves host functions as they are."""

    def run(self, module: Module, target: Target) -> Module:
        """The Module with each kernel replaced by what `run_kernel` makes of it."""
        functions = tuple(
            self.run_kernel(fn, module, target) if isinstance(fn, PrimFunction) and not is_host(fn) else fn
            for fn in module.functions
        )
        return replace(module, functions=functions)

    @abstractmethod
    def run_kernel(self, kernel: PrimFunction, module: Module, target: Target) -> PrimFunction:
        """The kernel after this step.

        Raises:
            VerifyError, CompileError: as `run`.
        """


def is_host(fn: PrimFunction) -> bool:
    """Whether a function of TIR launches kernels, or picks one by an extent."""
    items = tir.items_within(tir.unfold(fn.body))
    if isinstance(fn.target, CpuTarget) and isinstance(fn.body, tir.DispatchCall):
        return True
    return any(isinstance(i, tir.Evaluate) and isinstance(i.callable, tir.Launch) for i in items)


def form_of(module: Module) -> str:
    """`HIR` or `TIR`: what the entry is, or, where there is none, whether anything is HIR."""
    parts = (module.entry_function(),) if module.entry is not None else module.functions
    return HIR if any(isinstance(part, Function) for part in parts) else TIR


def every_thread(module: Module) -> Mesh:
    """The mesh of all threads of a CTA: what holds registers for which a program names no mesh."""
    threads = next((t for t in module.effective_topologies() if t.name == "thread"), Topology("thread", 1))
    return Mesh((threads,), Layout((threads.size,), (1,)))


def every_cta(module: Module) -> Mesh | None:
    """The mesh of all CTAs of a launch; None where a program declares none, or one."""
    ctas = next((t for t in module.effective_topologies() if t.name == "cta" and t.size != 1), None)
    return None if ctas is None else Mesh((ctas,), Layout((ctas.size,), (1,)))


def placement_of(module: Module, target: Target) -> Target:
    """The target that grid, threads and shared memory are chosen for: the Module's own, else `target`."""
    return module.resolve_target() if module.declares_target() else target
