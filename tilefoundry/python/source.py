"""Where a decorated function was written: its syntax tree, and the span of every node in the author's file.

The whole file is parsed, not the function's own text: positions then need no correction for indentation, decorators or
continuation lines, and one parse serves every function of a file.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from types import FunctionType

from tilefoundry.diagnostics import SourceSpan, VerifyError


@dataclass(frozen=True)
class SourceFile:
    """One parsed file: the functions it defines, by name and first line, and the lines that spans are measured on."""

    name: str
    lines: tuple[str, ...]
    definitions: dict[tuple[str, int], ast.FunctionDef | ast.AsyncFunctionDef] = field(repr=False)

    def span(self, node: ast.AST) -> SourceSpan:
        """The 1-based span of `node` in characters (``ast`` counts columns in UTF-8 bytes, from zero)."""
        line, end_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        column = self._column(line, node.col_offset)  # type: ignore[attr-defined]
        return SourceSpan(self.name, line, column, end_line, self._column(end_line, node.end_col_offset))  # type: ignore[attr-defined]

    def _column(self, line: int, byte_offset: int) -> int:
        return len(self.lines[line - 1].encode()[:byte_offset].decode(errors="replace")) + 1


@dataclass(frozen=True)
class FunctionSource:
    """The definition of one Python function inside its file."""

    file: SourceFile
    node: ast.FunctionDef

    def span(self, node: ast.AST) -> SourceSpan:
        """Where `node` stands in the author's file."""
        return self.file.span(node)


_files: dict[str, SourceFile] = {}


def _definitions(tree: ast.Module) -> dict[tuple[str, int], ast.FunctionDef | ast.AsyncFunctionDef]:
    found: dict[tuple[str, int], ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
    return found


def _source_file(function: FunctionType) -> SourceFile:
    name = function.__code__.co_filename
    linecache.checkcache(name)
    lines = tuple(linecache.getlines(name, function.__globals__))
    if not lines:
        raise VerifyError(
            f"the source of '{function.__qualname__}' is not available: expected a function written in a file, "
            f"got one compiled from {name!r}",
            remedy="put the function in a .py file and import it; the front end reads its source",
        )
    known = _files.get(name)
    if known is None or known.lines != lines:
        try:
            tree = ast.parse("".join(lines), filename=name)
        except SyntaxError as error:
            raise VerifyError(
                f"{name} changed since it was imported and no longer parses: {error}",
                remedy="import the module again after correcting the file",
            ) from error
        known = _files[name] = SourceFile(name, lines, _definitions(tree))
    return known


def function_source(function: FunctionType) -> FunctionSource:
    """The ``def`` of `function` in its file.

    Raises:
        VerifyError: there is none: a lambda, an async function, code without a file, a file that has changed.
    """
    file = _source_file(function)
    # co_firstlineno is the line of the first decorator, where there is one
    node = file.definitions.get((function.__name__, function.__code__.co_firstlineno))
    if isinstance(node, ast.AsyncFunctionDef):
        raise VerifyError(
            f"expected a plain 'def', got async function '{node.name}'",
            span=file.span(node),
            remedy="remove 'async'; a tensor program has no event loop",
        )
    if node is None:
        raise VerifyError(
            f"the definition of '{function.__qualname__}' was not found at {file.name}:"
            f"{function.__code__.co_firstlineno}: expected a function defined with 'def'",
            remedy="write it with 'def'; if the file changed since it was imported, import it again",
        )
    return FunctionSource(file, node)
