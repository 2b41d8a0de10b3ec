"""Naming a node or a function of a Module tree by a dotted path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module


def select(module: Module, path: str) -> Module:
    """The node that a path such as ``"layers.attention"`` names, under its owner's target and topologies.

    Args:
        path: names of children; the last one may be that of a function, which becomes the entry of what is returned.
            Empty for `module` itself.

    Raises:
        WrongTypeError: the path is no string.
        WrongValueError: a segment is empty or names nothing.
    """
    if not isinstance(path, str):
        raise WrongTypeError(f"select: expected a dotted path, got {path!r}", remedy='write "child.child.function"')
    if not path:
        return module
    node = module
    segments = path.split(".")
    for k, segment in enumerate(segments):
        if not segment:
            raise WrongValueError(f"select: segment {k} of {path!r} is empty", remedy="separate names by single dots")
        child = node.child_named(segment)
        if child is not None:
            node = child
        elif k == len(segments) - 1 and node.function_named(segment):
            return replace(node, entry=segment)
        else:
            what = "child or function" if k == len(segments) - 1 else "child"
            raise WrongValueError(
                f"select: module '{node.name}' has no {what} '{segment}' (segment {k} of {path!r})",
                remedy=f"it has: {', '.join(_names(node)) or 'none'}",
            )
    return node


def function_selectors(module: Module) -> tuple[tuple[str, Function], ...]:
    """Every HIR function of a tree with the path that `select` takes, parents first."""
    return tuple(_selectors(module, ""))


def _selectors(module: Module, prefix: str) -> Iterator[tuple[str, Function]]:
    for function in module.functions:
        if isinstance(function, Function):
            yield prefix + function.name, function
    for child in module.modules:
        yield from _selectors(child, f"{prefix}{child.name}.")


def _names(module: Module) -> list[str]:
    return [m.name for m in module.modules] + [f.name for f in module.functions]
