"""Plain Python methods of a Module: their own source, and what it needs to be imported again."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType

from tilefoundry.diagnostics import ExtractError


@dataclass(frozen=True)
class Method:
    """The source of one method, and the global names that it reads.

    Attributes:
        imports: for each global, its name here, its module, and its name there (empty for the module itself).
    """

    lines: tuple[str, ...]
    imports: tuple[tuple[str, str, str], ...]


def method_source(module: str, name: str, method: Callable[..., object]) -> Method:
    """The source of a method of the Module `module`.

    Raises:
        ExtractError: it has no source, or needs a value that cannot be imported.
    """
    what = f"method '{name}' of module '{module}'"
    if not isinstance(method, FunctionType) or method.__code__.co_freevars:
        raise ExtractError(f"{what} is no plain function without a closure", remedy="define it with 'def' in the class")
    try:
        text = textwrap.dedent(inspect.getsource(method))
        tree = ast.parse(text)
    except (OSError, SyntaxError) as error:
        raise ExtractError(f"{what} has no source: {error}", remedy="define it in a file") from error
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or definition.name != name or definition.decorator_list:
        raise ExtractError(f"{what} is not defined as 'def {name}' without decorators", remedy="define it so")
    imports: list[tuple[str, str, str]] = []
    for used in sorted({*_globals_of(method.__code__), *_names_at_definition(definition)}):
        if used in method.__globals__:
            imports.append((used, *_import_of(what, used, method.__globals__[used])))
        elif not hasattr(builtins, used):
            raise ExtractError(f"{what} uses '{used}', which is defined nowhere", remedy="define it in its file")
    return Method(tuple(text.rstrip().splitlines()), tuple(imports))


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


def _import_of(what: str, name: str, value: object) -> tuple[str, str]:
    if isinstance(value, ModuleType):
        return value.__name__, ""
    home, qualname = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, (type, FunctionType)) and home not in (None, "__main__") and "." not in str(qualname):
        return str(home), str(qualname)
    raise ExtractError(
        f"{what} uses the global '{name}', which cannot be imported",
        remedy="pass it as an argument, or define it in a module of its own",
    )
