"""The objects that a command names, as ``package.module:attribute``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

from tilefoundry.diagnostics import MissingNameError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import LoadedModule, Module
from tilefoundry.ir.tir import PrimFunction


def is_program(value: object) -> bool:
    """Whether a value can be compiled."""
    return isinstance(value, (Module, LoadedModule, Function, PrimFunction))


def named_object(spelling: str, meant: Callable[[object], bool] = is_program) -> object:
    """What ``package.module:attribute`` names; the module is imported.

    The attribute may have dots: ``models.llama:Model.layer0``.

    Args:
        meant: what the caller has a use for, which a message about a missing attribute lists.

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
                f"'{spelling}': {told(found)} has no attribute '{part}'",
                remedy=f"it has the {_programs_in(found, meant)}",
            )
        found = getattr(found, part)
    return found


def told(found: object) -> str:
    """What something is, and its name if it has one: "function 'dumps'"."""
    name = getattr(found, "__name__", None) or getattr(found, "name", None)
    kind = "Function" if isinstance(found, Function) else type(found).__name__  # what @func gives is a subclass
    return f"{kind} '{name}'" if isinstance(name, str) else f"of type {kind}"


def _programs_in(found: object, meant: Callable[[object], bool]) -> str:
    """What could have been meant: the programs among the attributes."""
    if isinstance(found, Module):
        return f"children: {', '.join(child.name for child in found.modules) or 'none'}"
    attributes = vars(found) if isinstance(found, ModuleType) else {}
    return f"programs: {', '.join(n for n, v in attributes.items() if meant(v)) or 'none'}"
