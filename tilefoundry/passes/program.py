"""The pipeline from a Module of HIR to a Module of TIR."""

from __future__ import annotations

from tilefoundry.diagnostics import CompileError, WrongTypeError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.elaborate import Elaborator
from tilefoundry.ir.tir import PrimFunction, fold
from tilefoundry.ir.verify import meshes_named, verify_module, verify_prim_function
from tilefoundry.passes.kernels import lower_kernels
from tilefoundry.passes.lower import lower_function
from tilefoundry.passes.memory import plan_memory
from tilefoundry.passes.pipeline import pipeline
from tilefoundry.passes.sync import insert_barriers
from tilefoundry.target import CudaTarget, Target, default_target

STAGES = 2  # one stage computes while the next one loads


def lower(module: Module, target: Target | None = None) -> Module:
    """Lowers the entry of a placed module.

    The placement (grid, threads, shared memory, pipelines) is that of the module's own target; ``target`` says what the
    result will be compiled for, and does not change it.

    Args:
        module: a Module whose entry is an HIR function, or a kernel or host function of TIR.
        target: what to compile for; the module's own target when left out.

    Returns:
        A Module of the same name, topologies and entry that holds one kernel, or a host function and its kernels.

    Raises:
        WrongTypeError: not a Module.
        VerifyError: the program is not well formed, or its placement cannot be compiled.
        CompileError: the tiles do not fit into shared memory.
    """
    check_finished(module)
    if not isinstance(module, Module):
        raise WrongTypeError(
            f"lower: expected a Module, got {type(module).__name__}", remedy="decorate the function with @func"
        )
    verify_module(module)
    placement = module.resolve_target() if module.declares_target() else target or default_target()
    entry = module.entry_function()
    if isinstance(entry, PrimFunction):
        return lower_kernels(module, entry, target or placement)
    if not isinstance(entry, Function):
        raise WrongTypeError(f"lower: the entry '{module.entry}' is no function", remedy="decorate it with @func")
    tensor_cores = isinstance(target or placement, CudaTarget)
    inputs, outputs, items, names = lower_function(module, Elaborator().without_calls(entry), tensor_cores)
    limit = placement.shared_bytes_per_cta if isinstance(placement, CudaTarget) else None
    used = 0
    for stages in range(STAGES, 0, -1):
        planned, used = plan_memory(insert_barriers(pipeline(items, names, stages)), names)
        if limit is None or used <= limit:
            kernel = PrimFunction(entry.name, (*inputs, *outputs), fold(planned), len(outputs))
            lowered = Module(
                name=module.name,
                functions=(kernel,),
                entry=entry.name,
                target=target or placement,
                topologies=module.effective_topologies(),
            )
            verify_prim_function(kernel, lowered, meshes_named(entry))
            return lowered
    raise CompileError(
        f"the tiles of '{entry.name}' take {used} bytes of shared memory, and a CTA of {placement} has {limit}",
        remedy="use smaller tiles",
    )
