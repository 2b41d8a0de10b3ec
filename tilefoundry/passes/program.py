"""The passes that compile a program, and `lower`, which runs them."""

from __future__ import annotations

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.passes.assign_target import AssignTarget
from tilefoundry.passes.base import HIR, PIPELINED, SYNCHRONISED, TILES, TIR, form_of
from tilefoundry.passes.compilable import CheckCompilable
from tilefoundry.passes.expand_kernels import ExpandKernels
from tilefoundry.passes.inline_children import InlineChildren
from tilefoundry.passes.inline_functions import InlineFunctions
from tilefoundry.passes.kernels import SelectKernels
from tilefoundry.passes.lower_to_tir import LowerToTir
from tilefoundry.passes.manager import PassManager
from tilefoundry.passes.memory import PlanMemory
from tilefoundry.passes.pipeline import PipelineLoads
from tilefoundry.passes.place import Place
from tilefoundry.passes.sync import InsertBarriers
from tilefoundry.target import Target


def default_passes(form: str = HIR, *, stages: int | None = None) -> PassManager:
    """The passes of `lower`, in a manager of the caller's own.

    Args:
        form: "hir", or "tir" for programs that are written in TIR: these say themselves what they load ahead and where
            they synchronise.
        stages: see `PipelineLoads`.

    Raises:
        WrongValueError: there is no such form, or `stages` is not positive.
    """
    if form == HIR:
        passes = PassManager().add(InlineChildren()).add(InlineFunctions()).add(Place())
        passes.add(LowerToTir()).add(PipelineLoads(stages)).add(InsertBarriers())
    elif form == TIR:
        passes = PassManager((TIR, TILES, PIPELINED, SYNCHRONISED)).add(SelectKernels())
        passes.add(ExpandKernels()).add(CheckCompilable())
    else:
        raise WrongValueError(
            f"default_passes: form is {form!r}, expected '{HIR}' or '{TIR}'",
            remedy=f"use '{HIR}' for what people write, '{TIR}' for kernels",
        )
    return passes.add(PlanMemory()).add(AssignTarget())


def lower(module: Module, target: Target | None = None, *, stages: int | None = None) -> Module:
    """Lowers the entry of a placed module.

    The placement (grid, threads, shared memory, pipelines) is that of the module's own target; ``target`` says what the
    result will be compiled for, and does not change it.

    Args:
        module: a Module whose entry is an HIR function, or a kernel or host function of TIR.
        target: what to compile for; the module's own target when left out.
        stages: see `PipelineLoads`.

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
    module.entry_function()
    return default_passes(form_of(module), stages=stages).run(module, target)
