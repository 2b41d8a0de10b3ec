"""The objects that a command line names, and the Modules that they stand for."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.driver.named import is_program, named_object, told
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

    Raises:
        WrongValueError, MissingNameError: as `tilefoundry.driver.named.named_object`.
    """
    if os.getcwd() not in sys.path:  # as `python -m` has it, however the command was started
        sys.path.insert(0, os.getcwd())
    return named_object(spelling, _is_program)


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
        f"{caller}: '{spelling}' is {told(found)}, not a Module, a function or a twin",
        remedy="name what @module, @func, @prim_func or @runtime_module made",
    )


def _is_program(value: object) -> bool:
    if isinstance(value, type):
        return issubclass(value, RuntimeModule) and hasattr(value, "_sem")  # a twin's class
    if isinstance(value, RuntimeModule):
        return value.module is not None
    return is_program(value)
