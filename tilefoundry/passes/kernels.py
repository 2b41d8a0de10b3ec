"""Kernels that are written in TIR: from a Module as authored to one that can be emitted.

A host function launches kernels and does nothing else; a kernel that is the entry itself runs on its own meshes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Tuple, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.verify import verify_module
from tilefoundry.ir.verify.prim_calls import resolve_symbol
from tilefoundry.passes.compilable import check_compilable
from tilefoundry.passes.inline import inline_calls
from tilefoundry.passes.memory import plan_memory
from tilefoundry.passes.names import Names
from tilefoundry.passes.workspace import is_workspace, workspace_of
from tilefoundry.target import CudaTarget, Target


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a host function.

    Attributes:
        args: parameters and global tensors of the host function, in the order of the kernel's parameters.
    """

    kernel: tir.PrimFunction
    args: tuple[Var, ...]
    grid: tuple[Expr | int, ...]
    block: tuple[Expr | int, ...]
    statement: tir.Evaluate


def launches_of(module: Module, fn: tir.PrimFunction) -> list[KernelLaunch]:
    """The launches of a host function in order; none for a kernel.

    Raises:
        CompileError: a host function does something beside launching and allocating, or passes on a number.
    """
    items = tir.unfold(fn.body)
    if not any(isinstance(i, tir.Evaluate) and isinstance(i.callable, tir.Launch) for i in tir.items_within(items)):
        return []
    found = []
    tensors = (*fn.params, *workspace_of(fn))
    for item in items:
        if isinstance(item, tir.Binding) and is_workspace(item.value):
            continue
        span = (span_of(item.metadata) if isinstance(item, tir.Binding) else item.span) or fn.span
        if not (isinstance(item, tir.Evaluate) and isinstance(item.callable, tir.Launch)):
            raise CompileError(
                f"host function '{fn.name}' does something beside launching kernels and allocating global tensors, which "
                "cannot be compiled yet",
                span=span,
                remedy="launch kernels one after the other, on extents written in the launch",
            )
        op = item.callable
        if op != tir.Launch():
            raise CompileError(
                "clusters, streams, further shared memory and launch attributes cannot be compiled yet",
                span=span,
                remedy="launch(kernel, *args, grid=..., block=...)",
            )
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


def lower_kernels(module: Module, entry: tir.PrimFunction, target: Target) -> Module:
    """The Module with what its entry needs, ready to be emitted: shared memory planned, every statement one that the
    emitter knows.

    Raises:
        CompileError: a statement cannot be compiled, or shared memory does not suffice; located where it was written.
    """
    launches = launches_of(module, entry)
    kernels = {launch.kernel.name: launch.kernel for launch in launches} if launches else {entry.name: entry}
    planned = tuple(_planned(inline_calls(module, kernel), target) for kernel in kernels.values())
    functions = (replace(entry, callees=()), *planned) if launches else planned
    lowered = Module(module.name, functions, entry.name, target=target, topologies=module.effective_topologies())
    verify_module(lowered)
    return lowered


def _planned(kernel: tir.PrimFunction, target: Target) -> tir.PrimFunction:
    check_compilable(kernel)
    names = Names()
    items = tir.unfold(kernel.body)
    for name in (*(p.name for p in kernel.params), *(i.var.name for i in tir.items_within(items) if _binds(i))):  # type: ignore[union-attr]
        names.fresh(name)
    placed, used = plan_memory(items, names)
    limit = target.shared_bytes_per_cta if isinstance(target, CudaTarget) else None
    if limit is not None and used > limit:
        raise CompileError(
            f"the tiles of '{kernel.name}' take {used} bytes of shared memory, and a CTA of {target} has {limit}",
            span=kernel.span,
            remedy="use smaller tiles",
        )
    return replace(kernel, body=tir.fold(placed), callees=())


def _binds(item: tir.Item) -> bool:
    return isinstance(item, (tir.Binding, tir.For))
