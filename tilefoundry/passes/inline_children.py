"""Calls of children: their weights become parameters of the entry, and their entries functions that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.rewrite import Node, Rewriter
from tilefoundry.ir.traverse import post_order
from tilefoundry.passes.base import CHILD_FREE, HIR, Pass
from tilefoundry.passes.names import Names
from tilefoundry.target import Target

Path = tuple[str, ...]  # of a weight: the names of the children that lead to it, and its own


@dataclass(frozen=True)
class InlineChildren(Pass):
    """Gives the entry the weights of the children that it reaches: its last parameters, in the order of the Module.

    The weight ``w`` of child ``proj`` is the parameter ``proj_w``, or that with a number where the name is taken.
    """

    name: ClassVar[str] = "inline-children"
    requires: ClassVar[frozenset[str]] = frozenset({HIR})
    establishes: ClassVar[frozenset[str]] = frozenset({CHILD_FREE})

    def run(self, module: Module, target: Target) -> Module:
        """The Module with the entry replaced; itself when the entry reaches no weights of a child."""
        entry = module.entry_function()
        if not isinstance(entry, Function):
            raise WrongTypeError(f"lower: the entry '{module.entry}' is no function", remedy="decorate it with @func")
        weights = _weights_reached(module, entry)
        if not weights:
            return module
        names = Names(param.name for param in entry.params)
        params = {path: _renamed(var, names.fresh("_".join(path))) for path, var in weights.items()}
        closed = _Closed(module, (), params).function(entry)
        return replace(module, functions=tuple(closed if fn is entry else fn for fn in module.functions))


def _renamed(weight: Var, name: str) -> Var:
    kept = tuple(record for record in weight.metadata if not isinstance(record, BindingMetadata))
    return Var(name, weight.type, True, kept)


def _weights_reached(module: Module, fn: Function) -> dict[Path, Var]:
    """The weights of the children that a function of the Module reaches, and of theirs; in the order of the Modules."""
    called = {target.child: target.function for target in _children_called(fn)}
    found: dict[Path, Var] = {}
    for child in module.modules:
        if child.name in called:
            entry = called[child.name]
            found |= {(child.name, param.name): param for param in entry.params if param.is_const}
            found |= {(child.name, *path): var for path, var in _weights_reached(child, entry).items()}
    return found


def _children_called(fn: Function) -> Iterator[ChildEntry]:
    """What `fn` calls, and the functions that it calls."""
    seen: dict[int, Function] = {}
    todo = [fn]
    while todo:
        function = todo.pop()
        if id(function) in seen:
            continue
        seen[id(function)] = function
        bodies = [part.body for part in (function, *function.variants) if part.body is not None]
        for expr in post_order(*bodies):
            if isinstance(expr, Call) and isinstance(expr.target, Function):
                todo.append(expr.target)
            elif isinstance(expr, Call) and isinstance(expr.target, ChildEntry):
                yield expr.target


class _Closed:
    """Functions of one Module of the tree that take the weights of children as parameters of their own.

    Each is made once, so that equal calls of it stay equal.

    Args:
        path: the children that lead to the Module.
        weights: what stands for the weights: parameters of the entry.
    """

    def __init__(self, module: Module, path: Path, weights: dict[Path, Var]) -> None:
        self._module, self._path, self._weights = module, path, weights
        self._children: dict[str, _Closed] = {}
        self._made: dict[int, tuple[Function, tuple[Path, ...], Function]] = {}

    def function(self, fn: Function) -> Function:
        """The function with all that it reaches behind its own parameters; itself where it reaches nothing."""
        return self._closed(fn)[0]

    def value(self, call: Call, args: tuple[Node, ...]) -> Call:
        """A call that gives the callee what it takes now."""
        target = call.target
        if isinstance(target, ChildEntry):
            inner = self._child(target.child)
            fn, paths = inner._closed(target.function)
            given = iter(args)
            args = tuple(
                self._weights[(*inner._path, p.name)] if p.is_const else next(given) for p in target.function.params
            )
        else:
            assert isinstance(target, Function)
            fn, paths = self._closed(target)
        return Call(fn, (*args, *(self._weights[path] for path in paths)), metadata=call.metadata)

    def _child(self, name: str) -> _Closed:
        if name not in self._children:
            child = self._module.child_named(name)
            assert child is not None  # of a verified Module
            self._children[name] = _Closed(child, (*self._path, name), self._weights)
        return self._children[name]

    def _closed(self, fn: Function) -> tuple[Function, tuple[Path, ...]]:
        if id(fn) not in self._made:
            paths = tuple((*self._path, *path) for path in _weights_reached(self._module, fn))
            self._made[id(fn)] = (self._with_parameters(fn, paths) if paths else fn, paths, fn)
        return self._made[id(fn)][:2]

    def _with_parameters(self, fn: Function, paths: tuple[Path, ...]) -> Function:
        weights = tuple(self._weights[path] for path in paths)

        def closed(part: Function) -> Function:
            body = None if part.body is None else _Calls(self).expr(part.body)
            return replace(part, params=(*part.params, *weights), body=body, variants=tuple(map(closed, part.variants)))

        return closed(fn)


class _Calls(Rewriter):
    """Puts calls of functions in the place of calls of children."""

    def __init__(self, closed: _Closed) -> None:
        super().__init__({})
        self._closed = closed

    def _rebuild(self, node: Expr) -> Node:
        if isinstance(node, Call) and isinstance(node.target, (ChildEntry, Function)):
            value = self._closed.value(node, self._all(node.args))
            same = value.target is node.target and all(a is b for a, b in zip(value.args, node.args, strict=True))
            return node if same else value
        return super()._rebuild(node)
