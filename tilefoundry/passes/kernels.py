"""Kernels that are written in TIR: what an entry needs of its Module.

A host function launches kernels and allocates the tensors between them; a kernel that is the entry itself runs on its
own meshes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Tuple, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.verify.prim_calls import resolve_symbol
from tilefoundry.passes.base import CALL_FREE, TIR, Pass, is_host
from tilefoundry.passes.inline import inline_calls
from tilefoundry.passes.workspace import is_workspace, views_of, workspace_of
from tilefoundry.target import Target

# What a launch may say beside its grid and block, and what to do without.
_BESIDES = {
    "cluster": "leave it out: no op of a kernel reaches into the memory of another CTA",
    "dynamic_smem": "leave it out: a kernel has the shared memory that its tiles take, T.alloc_tensor(...) in smem",
    "stream": "leave it out: kernels are launched on the caller's current stream, with torch.cuda.stream(s): ...",
    "attrs": "leave them out: what a kernel needs (its CTAs all resident, for barriers of the grid) is set by itself",
}


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a host function.

    Attributes:
        args: parameters and global tensors of the host function, in the order of the kernel's parameters.
        grid, block: extents; both empty for a kernel that runs on its own meshes.
    """

    kernel: tir.PrimFunction
    args: tuple[Var, ...]
    grid: tuple[Expr | int, ...]
    block: tuple[Expr | int, ...]
    statement: tir.Evaluate


@dataclass(frozen=True)
class SelectKernels(Pass):
    """Keeps the entry and the kernels that it launches; what these call becomes part of them.

    Raises:
        CompileError: when it runs: a host function does more than launch, or a call cannot be inlined; located.
    """

    name: ClassVar[str] = "select-kernels"
    requires: ClassVar[frozenset[str]] = frozenset({TIR})
    establishes: ClassVar[frozenset[str]] = frozenset({CALL_FREE})

    def run(self, module: Module, target: Target) -> Module:
        """The Module with nothing else in it."""
        entry = module.entry_function()
        assert isinstance(entry, tir.PrimFunction)  # of a Module of TIR
        launches = launches_of(module, entry)
        wanted = {launch.kernel.name: launch.kernel for launch in launches} if launches else {entry.name: entry}
        kernels = tuple(replace(inline_calls(module, kernel), callees=()) for kernel in wanted.values())
        functions = (replace(entry, callees=()), *kernels) if launches else kernels
        return Module(
            module.name,
            functions,
            module.entry,
            target=module.resolve_target() if module.declares_target() else None,
            topologies=module.effective_topologies(),
        )


def launches_of(module: Module, fn: tir.PrimFunction) -> list[KernelLaunch]:
    """The launches of a host function in order; none for a kernel.

    Raises:
        CompileError: a host function does something beside launching and allocating, or passes on a number.
    """
    if not is_host(fn):
        return []
    found = []
    workspace, views = workspace_of(fn), views_of(fn)
    tensors = (*fn.params, *workspace, *views)
    for item in tir.unfold(fn.body):
        if isinstance(item, tir.Binding) and (is_workspace(item.value) or views.get(item.var) in workspace):
            continue
        span = (span_of(item.metadata) if isinstance(item, tir.Binding) else item.span) or fn.span
        if not (isinstance(item, tir.Evaluate) and isinstance(item.callable, tir.Launch)):
            raise CompileError(
                f"host function '{fn.name}' does something beside launching kernels and allocating global tensors, "
                "which cannot be compiled yet",
                span=span,
                remedy="launch kernels one after the other, on extents written in the launch",
            )
        op = item.callable
        for name, remedy in _BESIDES.items():
            if getattr(op, name) != getattr(tir.Launch(), name):
                raise CompileError(f"'{name}' of a launch cannot be compiled yet", span=span, remedy=remedy)
        symbol, args, grid, block = item.args
        assert isinstance(symbol, tir.SymbolRef)
        assert isinstance(args, Tuple) and isinstance(grid, Tuple) and isinstance(block, Tuple)  # verified
        passed = tuple(arg for arg in args.elements if isinstance(arg, Var) and arg in tensors)
        if len(passed) != len(args.elements):
            raise CompileError(
                f"'{fn.name}' launches on what is neither a parameter nor a global tensor of its own, which cannot be "
                "compiled yet",
                span=span,
                remedy="pass parameters on, or tensors of T.alloc_tensor",
            )
        kernel = resolve_symbol(fn, module, symbol, span)
        found.append(KernelLaunch(kernel, passed, grid.elements, block.elements, item))
    return found
