"""``@intrinsic``: a statement of the author's own, written out where it is called.

Its parameters have no annotations and stand for whatever the call gives: tensors, scalars, compile-time values.
"""

from __future__ import annotations

import ast
import dataclasses
from dataclasses import dataclass
from typing import NoReturn

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.python.calls import Given
from tilefoundry.python.members import Authored
from tilefoundry.python.names import Resolver
from tilefoundry.python.prim.parser import Effect, PrimParser
from tilefoundry.python.source import function_source


@dataclass(frozen=True, eq=False)
class Intrinsic:
    """A statement of the author's own."""

    definition: Authored

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError(
            f"intrinsic '{self.definition.function.__qualname__}' was called as a Python function",
            span=self.definition.span,
            remedy="call it inside a function decorated with @prim_func",
        )


def expand(
    p: PrimParser, node: ast.Call, intrinsic: Intrinsic, positional: list[Given], keywords: dict[str, Given]
) -> Effect:
    """The statements of an intrinsic on these arguments."""
    definition = intrinsic.definition
    source = function_source(definition.function)
    name = source.node.name
    if intrinsic in p.expanding:
        p.refuse(node, f"intrinsic '{name}' calls itself", "write the repetition as a loop")
    inside = dataclasses.replace(
        p,
        source=source,
        resolver=Resolver(definition.function, p.resolver.members, definition.enclosing),
        scope=_bound(p, node, source.node, positional, keywords),
        gone={},
        items=[],
        outer=frozenset(),
        expanding=(*p.expanding, intrinsic),
    )
    inside.run(source.node.body)
    return Effect(name, tuple(inside.items))


def _bound(
    p: PrimParser, node: ast.Call, definition: ast.FunctionDef, positional: list[Given], keywords: dict[str, Given]
) -> dict[str, object]:
    a = definition.args
    names = [argument.arg for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    takes = f"it takes {', '.join(names) or 'nothing'}"
    count = len(names) - len(a.kwonlyargs)
    if len(positional) > count:
        p.refuse(node, f"'{definition.name}' takes {count} positional argument(s), got {len(positional)}", takes)
    given = {name: value for name, (_, value) in zip(names, positional, strict=False)}
    for name, (where, value) in keywords.items():
        if name not in names or name in given:
            p.refuse(where, f"'{definition.name}' has no further parameter '{name}'", takes)
        given[name] = value
    for name in names:
        if name not in given:
            p.refuse(node, f"'{definition.name}': parameter '{name}' is missing", takes)
    return given
