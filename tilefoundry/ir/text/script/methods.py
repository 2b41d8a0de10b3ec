"""Plain Python methods of a Module: their own source, and the values that it reads from around."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import dis
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import CodeType, FunctionType, ModuleType

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.text.script.names import GlobalNames


@dataclass(frozen=True, slots=True)
class Method:
    """The source of one method, and what it reads.

    Attributes:
        globals: the names of the module that it reads, and their values.
        captured: the names of the functions around it that it reads, and their values.
    """

    lines: tuple[str, ...]
    globals: tuple[tuple[str, object], ...]
    captured: tuple[tuple[str, object], ...]


def method_source(module: str, name: str, method: Callable[..., object]) -> Method:
    """The source of a method of the Module `module`.

    Raises:
        ExtractError: it has no source, or reads a name that has no value.
    """
    what = f"method '{name}' of module '{module}'"
    if not isinstance(method, FunctionType):
        raise ExtractError(f"{what} is no plain function", remedy="define it with 'def' in the class")
    try:
        text = textwrap.dedent(inspect.getsource(method))
        tree = ast.parse(text)
    except (OSError, SyntaxError) as error:
        raise ExtractError(f"{what} has no source: {error}", remedy="define it in a file") from error
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or definition.name != name or definition.decorator_list:
        raise ExtractError(f"{what} is not defined as 'def {name}' without decorators", remedy="define it so")
    found: list[tuple[str, object]] = []
    for used in sorted({*_globals_of(method.__code__), *_names_at_definition(definition)}):
        if used in method.__globals__:
            found.append((used, method.__globals__[used]))
        elif not hasattr(builtins, used):
            raise ExtractError(f"{what} uses '{used}', which is defined nowhere", remedy="define it in its file")
    captured: list[tuple[str, object]] = []
    for used, cell in zip(method.__code__.co_freevars, method.__closure__ or (), strict=True):
        try:
            captured.append((used, cell.cell_contents))
        except ValueError:
            raise ExtractError(f"{what} captures '{used}', which has no value", remedy="assign it") from None
    return Method(tuple(text.rstrip().splitlines()), tuple(found), tuple(captured))


def _globals_of(code: CodeType) -> Iterator[str]:
    """The names that a code object and those inside of it may read from the module."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


def _names_at_definition(definition: ast.FunctionDef) -> Iterator[str]:
    """The names in default values, which Python reads when it defines the function; annotations are postponed."""
    for default in (*definition.args.defaults, *definition.args.kw_defaults):
        for node in ast.walk(default) if default is not None else ():
            if isinstance(node, ast.Name):
                yield node.id


def global_line(names: GlobalNames, what: str, name: str, value: object) -> str:
    """The line that binds a global name to its value.

    Raises:
        ExtractError: the value cannot be imported or written.
    """
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" if value.__name__ == name else f"import {value.__name__} as {name}"
    home = _home(value)
    if home is not None:
        exported = home[1] if home[1] == name else f"{home[1]} as {name}"
        return f"from {home[0]} import {exported}"
    return f"{name} = {value_text(names, f'{what}, global {name!r}', value)}"


def _home(value: object) -> tuple[str, str] | None:
    """The module and the name by which a class or function can be imported."""
    if not isinstance(value, (type, FunctionType)) or "." in value.__qualname__ or value.__module__ == "__main__":
        return None
    return value.__module__, value.__qualname__


def value_text(names: GlobalNames, what: str, value: object) -> str:
    """A Python value as an expression: numbers, strings, containers, enumerations, dataclasses, what can be imported.

    Raises:
        ExtractError: it is nothing of this.
    """
    home = _home(value)
    if home is not None:
        return names.imported(*home)
    match value:
        case float() if not math.isfinite(value):
            return f"{names.builtin('float')}({str(value)!r})"
        case Enum() if (kind := _home(type(value))) is not None:
            return f"{names.imported(*kind)}.{value.name}"
        case None | bool() | int() | float() | str() | bytes():
            return repr(value)
        case tuple():
            parts = [value_text(names, what, v) for v in value]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        case list():
            return f"[{', '.join(value_text(names, what, v) for v in value)}]"
        case dict():
            pairs = (f"{value_text(names, what, k)}: {value_text(names, what, v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
    made = _home(type(value))
    if dataclasses.is_dataclass(value) and made is not None:
        fields = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.init]
        given = ", ".join(f"{name}={value_text(names, what, v)}" for name, v in fields)
        return f"{names.imported(*made)}({given})"
    raise ExtractError(
        f"{what} uses {value!r}, which can neither be imported nor written",
        remedy="pass it as an argument, or define it at the top of a module",
    )
