"""Is a program well formed? What constructors cannot see is checked here."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import VerifyError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.schedule import check_schedule_constraint
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.variants import check_variants
from tilefoundry.ir.verify.children import verify_children
from tilefoundry.ir.verify.extents import verify_extents
from tilefoundry.ir.verify.prim_function import verify_prim_function
from tilefoundry.ir.verify.scopes import meshes_named, verify_scopes
from tilefoundry.ir.verify.spread import verify_spread
from tilefoundry.ir.verify.variables import verify_variables
from tilefoundry.target import validate_program_topology


def verify_function(fn: Function, topologies: Sequence[Topology] | None = None) -> None:
    """Checks one function, its variants and its converters: extents, variables, scopes, loops, constraints, ranges.

    Args:
        topologies: the levels in force; None where they are not known yet.

    Raises:
        VerifyError: the first fault found, located where its place is known.
        ScheduleError: a value cannot keep to its schedule constraint.
    """
    verify_extents(fn)
    verify_variables(fn)
    verify_scopes(fn, topologies)
    verify_spread(fn)
    for expr in post_order(fn.body) if fn.body is not None else ():
        check_schedule_constraint(expr)
    check_variants(fn)
    for part in (*fn.variants, *(converter for _, converter in fn.converters)):
        verify_function(part, topologies)


def verify_module(module: Module, *, owned: bool = False) -> None:
    """Checks a Module and its children: topologies against the target, then every function.

    Args:
        owned: the module may become a child; levels that nobody declares yet are its owner's, and are not checked.

    Raises:
        VerifyError: the first fault found.
    """
    topologies = module.effective_topologies()
    known = not owned or module.declares_target() or _declares_topologies(module)
    if module.declares_target():
        try:
            validate_program_topology(topologies, module.resolve_target())
        except WrongValueError as error:
            raise VerifyError(f"module '{module.name}': {error.message}", remedy=error.remedy) from error
    if module.entry is not None:
        try:
            module.entry_function()
        except WrongValueError as error:
            raise VerifyError(error.message, remedy=error.remedy) from error
    for function in module.functions:
        if isinstance(function, Function):
            verify_function(function, topologies if known else None)
            verify_children(module, function)
        elif isinstance(function, PrimFunction):
            verify_prim_function(function, module)
    for child in module.modules:
        verify_module(child, owned=owned)


def _declares_topologies(module: Module) -> bool:
    """Whether the module or an owner says which levels there are."""
    return module.topologies is not None or (module.owner is not None and _declares_topologies(module.owner))


__all__ = ["meshes_named", "verify_function", "verify_module", "verify_prim_function"]
