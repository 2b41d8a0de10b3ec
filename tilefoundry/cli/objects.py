"""The objects that a command line names, and the Modules that they stand for."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Annotated

import typer

from tilefoundry.diagnostics import MissingNameError, WrongTypeError, WrongValueError
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import LoadedModule, Module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.runtime.module import RuntimeModule, authored_module

OBJECT = Annotated[
    str,
    typer.Argument(
        metavar="OBJECT", help="A Module, a function or a twin, as package.module:attribute.", show_default=False
    ),
]


def find(spelling: str) -> object:
    """What ``package.module:attribute`` names; the module is imported, from the current folder too.

    The attribute may have dots: ``models.llama:Model.layer0``.

    Raises:
        WrongValueError: the spelling has another form, or the module cannot be imported.
        MissingNameError: there is no such module, or it has no such attribute (a KeyError).
    """
    name, _, attribute = spelling.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        raise WrongValueError(
            f"expected an object as package.module:attribute, got '{spelling}'",
            remedy="write e.g. examples.attention.program:Model",
        )
    if os.getcwd() not in sys.path:  # as `python -m` has it, however the command was started
        sys.path.insert(0, os.getcwd())
    try:
        found: object = importlib.import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise MissingNameError(
                f"'{spelling}': there is no module '{error.name}'",
                remedy="start in the folder that holds it, or name that folder in PYTHONPATH",
            ) from error
        raise WrongValueError(
            f"'{spelling}': module '{name}' cannot be imported: {error}",
            remedy="install or mend what it imports",
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise MissingNameError(
                f"'{spelling}': {_told(found)} has no attribute '{part}'", remedy=f"it has the {_programs_in(found)}"
            )
        found = getattr(found, part)
    return found


def module_of(found: object, spelling: str, caller: str) -> Module:
    """The Module that an object is or stands for; a function's is the one that has it as its entry.

    Args:
        found: what `spelling` names.
        spelling: how the command line has it.
        caller: the command, for messages.

    Raises:
        WrongTypeError: it stands for no single Module.
    """
    if isinstance(found, Module):
        return found
    if isinstance(found, LoadedModule):
        return found.module
    if isinstance(found, (Function, PrimFunction)):
        return normalize_to_module(found)
    if isinstance(found, RuntimeModule):
        return authored_module(found, caller)
    if isinstance(found, type) and issubclass(found, RuntimeModule):
        from tilefoundry.runtime.twin import Twin

        if issubclass(found, Twin):
            return found._sem  # what an instance stands for, without running the author's __init__
        raise WrongTypeError(
            f"{caller}: runtime module class '{found.__name__}' stands for no single Module",
            remedy="name the Module itself",
        )
    raise WrongTypeError(
        f"{caller}: '{spelling}' is {_told(found)}, not a Module, a function or a twin",
        remedy="name what @module, @func, @prim_func or @runtime_module made",
    )


def _told(found: object) -> str:
    """What something is, and its name if it has one: "function 'dumps'"."""
    name = getattr(found, "__name__", None) or getattr(found, "name", None)
    kind = type(found).__name__
    return f"{kind} '{name}'" if isinstance(name, str) else f"of type {kind}"


def _programs_in(found: object) -> str:
    """What could have been meant: the programs among the attributes."""
    if isinstance(found, Module):
        return f"children: {', '.join(child.name for child in found.modules) or 'none'}"
    attributes = vars(found) if isinstance(found, ModuleType) else {}
    return f"programs: {', '.join(n for n, v in attributes.items() if _is_program(v)) or 'none'}"


def _is_program(value: object) -> bool:
    if isinstance(value, type):
        return issubclass(value, RuntimeModule) and hasattr(value, "_sem")  # a twin's class
    if isinstance(value, RuntimeModule):
        return value.module is not None
    return isinstance(value, (Module, LoadedModule, Function, PrimFunction))
