"""Places in the author's file that no function body holds: the call of a decorator, a class, a member of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from tilefoundry.diagnostics import SourceSpan, TileFoundryError, VerifyError
from tilefoundry.python.source import SourceFile, source_file


@contextmanager
def at(frame: FrameType) -> Iterator[None]:
    """Locates what is refused inside, unless it has a place already, at the expression that `frame` evaluates."""
    try:
        yield
    except TileFoundryError as error:
        if error.span is not None:
            raise
        raise error.at(SourceSpan.of_call(frame)) from error.__cause__


def _file(frame: FrameType) -> SourceFile | None:
    try:
        return source_file(frame.f_code.co_filename, frame.f_globals)
    except VerifyError:  # it no longer parses, which is not what is being refused
        return None


@dataclass(frozen=True)
class ClassSite:
    """A class that is being decorated, and its definition where the source is there."""

    place: SourceSpan
    file: SourceFile | None = None
    node: ast.ClassDef | None = None

    @staticmethod
    def of(cls: type, frame: FrameType) -> ClassSite:
        """The definition of `cls`, which the code of `frame` decorates."""
        place, file = SourceSpan.of_call(frame), _file(frame)
        for (name, first), node in file.definitions.items() if file is not None else ():
            if isinstance(node, ast.ClassDef) and name == cls.__name__ and first <= place.line <= node.lineno:
                assert file is not None
                return ClassSite(file.span(node), file, node)
        return ClassSite(place)

    def member(self, name: str) -> SourceSpan:
        """Where the class body gives `name` its value; the class itself when that cannot be told."""
        found = [node for node in self._body() if name in bound_names(node)]
        return self.file.span(found[-1]) if self.file is not None and found else self.place

    def repeated(self) -> list[tuple[str, SourceSpan]]:
        """The names that two statements of the class body bind, one of them a ``def``, with the later place."""
        seen: dict[str, ast.stmt] = {}
        found: list[tuple[str, SourceSpan]] = []
        for node in self._body():
            for name in bound_names(node):
                earlier = seen.setdefault(name, node)
                if earlier is not node and (isinstance(earlier, ast.FunctionDef) or isinstance(node, ast.FunctionDef)):
                    assert self.file is not None
                    found.append((name, self.file.span(node)))
        return found

    def _body(self) -> list[ast.stmt]:
        return self.node.body if self.node is not None else []


def bound_names(node: ast.stmt) -> list[str]:
    """The names that a statement of a class body binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
