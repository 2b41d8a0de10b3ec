"""Where a decorated function was written: its syntax tree, and the span of every node in the author's file.

The whole file is parsed, not the function's own text: positions then need no correction for indentation, decorators or
continuation lines, and one parse serves every function of a file.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from tilefoundry.diagnostics import SourceSpan, VerifyError


@dataclass(frozen=True)
class SourceFile:
    """One parsed file: what it defines by name and first line, and the lines that spans are measured on."""

    name: str
    lines: tuple[str, ...]
    definitions: dict[tuple[str, int], Definition] = field(repr=False)

    def span(self, node: ast.AST) -> SourceSpan:
        """The 1-based span of `node` in characters (``ast`` counts columns in UTF-8 bytes, from zero)."""
        return self.span_of(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def line_of(self, name: str, after: int) -> int | None:
        """The line below `after` where the file defines a function or class of this name, if it does."""
        lines = (node.lineno for (known, _), node in self.definitions.items() if known == name)
        return next((line for line in lines if line > after), None)

    def span_of(self, line: int, offset: int, end_line: int, end_offset: int) -> SourceSpan:
        """The 1-based span in characters of a range whose columns count UTF-8 bytes from zero."""
        return SourceSpan(self.name, line, self._column(line, offset), end_line, self._column(end_line, end_offset))

    def _column(self, line: int, byte_offset: int) -> int:
        text = self.lines[line - 1]
        return (byte_offset if text.isascii() else len(text.encode()[:byte_offset].decode(errors="replace"))) + 1


@dataclass(frozen=True)
class FunctionSource:
    """The definition of one Python function inside its file."""

    file: SourceFile
    node: ast.FunctionDef

    def span(self, node: ast.AST) -> SourceSpan:
        """Where `node` stands in the author's file."""
        return self.file.span(node)


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_files: dict[str, SourceFile] = {}


def _definitions(tree: ast.Module) -> dict[tuple[str, int], Definition]:
    found: dict[tuple[str, int], Definition] = {}
    todo: list[ast.AST] = [tree]
    while todo:  # only statements hold definitions
        for node in ast.iter_child_nodes(todo.pop()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
            if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                todo.append(node)
    return found


def source_file(name: str, scope: dict[str, Any]) -> SourceFile | None:
    """The file of this name as it is now, or None when there is none.

    Args:
        scope: the globals of the code in question; their loader may know its source.

    Raises:
        VerifyError: the file no longer parses.
    """
    linecache.checkcache(name)
    lines = tuple(linecache.getlines(name, scope))
    if not lines:
        return None
    known = _files.get(name)
    if known is None or known.lines != lines:
        try:
            tree = ast.parse("".join(lines), filename=name)
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), len(lines))
            raise VerifyError(
                f"{name} changed since it was imported and no longer parses: {error.msg}",
                span=SourceSpan(name, line, 1, line, 1),
                remedy="import the module again after correcting the file",
            ) from error
        known = _files[name] = SourceFile(name, lines, _definitions(tree))
    return known


def function_source(function: FunctionType) -> FunctionSource:
    """The ``def`` of `function` in its file.

    Raises:
        VerifyError: there is none: a lambda, an async function, code without a file, a file that has changed.
    """
    code = function.__code__
    start = SourceSpan(code.co_filename, code.co_firstlineno, 1, code.co_firstlineno, 1)
    file = source_file(code.co_filename, function.__globals__)
    if file is None:
        raise VerifyError(
            f"the source of '{function.__qualname__}' is not available: expected a function written in a file, "
            f"got one compiled from {code.co_filename!r}",
            span=start,
            remedy="put the function in a .py file or a notebook cell and import or run it; the front end reads its "
            "source",
        )
    # co_firstlineno is the line of the first decorator, where there is one
    node = file.definitions.get((function.__name__, code.co_firstlineno))
    if isinstance(node, ast.AsyncFunctionDef):
        raise VerifyError(
            f"expected a plain 'def', got async function '{node.name}'",
            span=file.span(node),
            remedy="remove 'async'; a tensor program has no event loop",
        )
    if not isinstance(node, ast.FunctionDef):
        lambda_ = function.__name__ == "<lambda>"
        raise VerifyError(
            "expected a function defined with 'def', got a lambda"
            if lambda_
            else f"the definition of '{function.__qualname__}' is not at {start}: expected a function defined with "
            "'def' there",
            span=start,
            remedy="write it with 'def' and annotations"
            if lambda_
            else "decorate the 'def' itself; if the file changed since it was imported, import it again",
        )
    return FunctionSource(file, node)
