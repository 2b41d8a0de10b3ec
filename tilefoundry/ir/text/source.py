"""Programs as importable Python source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.elaborate import functions_reached
from tilefoundry.ir.text.script.program import ScriptPrinter, authored_names
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.traverse import post_order


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """How a script looks; it makes the same program under all options.

    Attributes:
        types: a comment says the type of each value that is assigned in a tensor program.
    """

    types: bool = False


def as_script(
    fn_or_mod: Function | PrimFunction | Module, module: Module | None = None, options: ScriptOptions | None = None
) -> str:
    """A program as Python source that makes the same program again when it is imported.

    What the source makes is structurally equal to what was given (see `tilefoundry.ir.structurally_equal`): types,
    layouts, attributes, constants, names, mesh scopes, schedule constraints, children, variants, converters. Its last
    statement binds it to the program's name, or to ``program`` where that is no Python name. A function with variants
    or converters, or one given with its Module, is printed as the Module that has it as its entry; a Module that has an
    owner, with the target and the topologies that it has from it.

    Args:
        fn_or_mod: a Function, a kernel or a Module.
        module: the Module that it belongs to: its target, topologies and the children that the function calls (of a
            kernel, all kernels) are printed with it.
        options: how it looks.

    Raises:
        WrongTypeError: the arguments have other types.
        WrongValueError: `module` does not hold the function.
        ExtractError: something in it cannot be written in the surface language; it is named.
    """
    options = ScriptOptions() if options is None else options
    if not isinstance(options, ScriptOptions):
        raise WrongTypeError(f"as_script: expected ScriptOptions, got {options!r}", remedy="leave them out")
    if module is not None and not isinstance(module, Module):
        raise WrongTypeError(f"as_script: expected a Module as module, got {module!r}", remedy="leave it out")
    if isinstance(fn_or_mod, PrimFunction) and module is None:
        printer = ScriptPrinter(authored_names(fn_or_mod), options.types)
        printer.kernel(fn_or_mod)
        return printer.script()
    if isinstance(fn_or_mod, Function) and module is None and not (fn_or_mod.variants or fn_or_mod.converters):
        printer = ScriptPrinter(authored_names(fn_or_mod), options.types)
        printer.function(fn_or_mod)
        return printer.script()
    if isinstance(fn_or_mod, (Function, PrimFunction)):
        fn_or_mod = _alone(fn_or_mod, module)
    check_finished(fn_or_mod)
    if not isinstance(fn_or_mod, Module):
        raise WrongTypeError(
            f"as_script: expected a Function or a Module, got {fn_or_mod!r}", remedy="decorate it with @func or @module"
        )
    printer = ScriptPrinter(authored_names(fn_or_mod), options.types)
    printer.program(fn_or_mod)
    return printer.script()


def _alone(function: Function | PrimFunction, module: Module | None) -> Module:
    """The Module that has nothing but one function, and what that needs."""
    if module is None:
        return Module(function.name, (function,), function.name)
    if not module.owns(function):
        raise WrongValueError(
            f"as_script: module '{module.name}' does not hold function '{function.name}'",
            remedy="give the Module that holds it",
        )
    if isinstance(function, PrimFunction):
        kernels = tuple(f for f in module.functions if isinstance(f, PrimFunction))
        return replace(module, functions=kernels, entry=function.name, modules=(), methods={})
    needed = functions_reached(function)
    bodies = [part.body for f in needed for part in (f, *f.variants) if part.body is not None]
    called = {e.target.child for e in post_order(*bodies) if isinstance(e, Call) and isinstance(e.target, ChildEntry)}
    return replace(
        module,
        functions=tuple(f for f in module.functions if any(f is one for one in needed)),
        entry=function.name,
        modules=tuple(child for child in module.modules if child.name in called),
        methods={},
    )
