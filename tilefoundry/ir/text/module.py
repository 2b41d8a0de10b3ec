"""A Module as text: the same for the same program, in every process and place."""

from __future__ import annotations

from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.text.canonical import CanonicalPrinter

VERSION = 3  # of this text; part of it, so that a change of the form changes every key


def canonical_module_text(module: Module) -> str:
    """Everything that a Module means, as stable text: the part of a cache key that stands for the program.

    It holds the functions with their types, layouts, attributes, constants, names and mesh scopes, the callees that
    they reach, variants, converters and child modules, and the *effective* topologies in order. It depends on no
    address, hash seed, dict order, file or line. The target is not part of it.
    """
    printer = CanonicalPrinter({})
    _module(printer, module)
    return _text(printer)


def canonical_function_text(function: Function) -> str:
    """What one function means, as `canonical_module_text` says it of a Module."""
    printer = CanonicalPrinter({})
    printer.function(function)
    return _text(printer)


def _text(printer: CanonicalPrinter) -> str:
    while printer.reached:  # what calls refer to by number
        callee = printer.reached.pop(0)
        printer.function(callee, printer.function_name(callee))
    definitions = [f"tilefoundry module text {VERSION}", *printer.values.definitions]
    return "\n".join([*definitions, *printer.lines]) + "\n"


def _module(printer: CanonicalPrinter, module: Module) -> None:
    levels = ", ".join(f"{t.name}={printer.values.dim(t.size)}" for t in module.effective_topologies())
    methods = f" methods ({', '.join(sorted(module.methods))})" if module.methods else ""
    printer.line(f"module {module.name!r} entry {module.entry!r} topologies ({levels}){methods}:")
    for function in module.functions:
        printer.definition(function)
    for child in module.modules:
        _module(printer, child)
    printer.line(f"end {module.name!r}")
