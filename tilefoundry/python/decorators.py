"""``@func`` and ``@module``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType, FunctionType
from typing import overload

from tilefoundry.diagnostics import VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.verify import verify_function, verify_module
from tilefoundry.python.function import parse_function
from tilefoundry.python.names import Members, Resolver, enclosing_names, is_class_body
from tilefoundry.python.parser import Session
from tilefoundry.target import Target

Topologies = tuple[Topology, ...]


class Undeclared:
    """Says that a module does not declare topologies: it inherits its owner's."""

    def __repr__(self) -> str:
        return "UNDECLARED"


UNDECLARED = Undeclared()


@dataclass(frozen=True, eq=False)
class Member:
    """A function in the body of a class: parsed by ``@module``, which knows topologies and siblings."""

    function: FunctionType
    enclosing: dict[str, object] = field(repr=False)

    def __call__(self, *args: object) -> object:
        raise WrongTypeError(
            f"'{self.function.__qualname__}' belongs to a class that is not a module yet",
            remedy="decorate the class with @module",
        )


@overload
def func(function: Callable[..., object], /) -> Function: ...
@overload
def func(
    *, topologies: Topologies | None = None, target: Target | None = None
) -> Callable[[Callable[..., object]], Module]: ...
def func(
    function: Callable[..., object] | None = None,
    /,
    *,
    topologies: Topologies | None = None,
    target: Target | None = None,
) -> object:
    """Turns a Python function into a Function; with `topologies` or `target`, into a Module with that one function.

    Raises:
        VerifyError: the program is malformed; located in the author's file.
        WrongTypeError: what is decorated is not a plain function.
    """
    if function is not None:
        return _func(function, sys._getframe(1), None, None)
    return lambda decorated: _func(decorated, sys._getframe(1), topologies, target)


def _func(function: object, frame: FrameType, topologies: Topologies | None, target: Target | None) -> object:
    if not isinstance(function, FunctionType):
        raise WrongTypeError(f"@func: expected a function defined with 'def', got {type(function).__name__}")
    around = enclosing_names(frame)
    if topologies is None and target is None:
        if is_class_body(frame):
            return Member(function, around)
        parsed = parse_function(function, Resolver(function, enclosing=around), Session())
        verify_function(parsed)
        return parsed
    _check_topologies(function.__name__, topologies)
    parsed = parse_function(function, Resolver(function, enclosing=around), Session(topologies))
    module = Module(parsed.name, (parsed,), entry=parsed.name, target=target, topologies=topologies)
    verify_module(module)
    return module


def _check_topologies(name: str, topologies: object) -> None:
    if topologies is None:
        return
    if not isinstance(topologies, tuple) or not all(isinstance(t, Topology) for t in topologies):
        raise WrongTypeError(
            f"'{name}': topologies must be a tuple of Topology, got {topologies!r}",
            remedy='write topologies=(Topology("cta", 64), Topology("thread", 128))',
        )


def module(
    *, entry: str | None = None, target: Target | None = None, topologies: Topologies | Undeclared = UNDECLARED
) -> Callable[[type], Module]:
    """Class decorator: a Module from the functions, child modules and methods in a class body.

    Args:
        entry: the function that a call runs.
        target: what the module is written for; only a root declares one.
        topologies: levels that ``with Mesh`` may name, outermost first; not given: the owner's.

    Raises:
        VerifyError: a function is malformed; located in the author's file.
        WrongTypeError: a member is of another kind, or an argument has the wrong type.
        WrongValueError: `entry` names no function, or names clash.
    """

    def decorate(cls: type) -> Module:
        if not isinstance(cls, type):
            raise WrongTypeError(f"@module: expected a class, got {type(cls).__name__}", remedy="decorate a class")
        levels = None if isinstance(topologies, Undeclared) else topologies
        _check_topologies(cls.__name__, levels)
        if levels is None and not isinstance(topologies, Undeclared):
            raise WrongTypeError(f"'{cls.__name__}': topologies must be a tuple of Topology, got None")
        built = _Collector(cls, Session(levels)).module(entry, target, levels)
        verify_module(built)
        return built

    return decorate


_IGNORED = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__annotate__", "__annotate_func__", "__conditional_annotations__",
}  # fmt: skip


class _Collector:
    """Sorts the members of a class, and parses each function when it is first needed."""

    def __init__(self, cls: type, session: Session) -> None:
        self.cls, self.session = cls, session
        self.functions: dict[str, Function] = {}
        self.pending: dict[str, Member] = {}
        self.children: dict[str, Module] = {}
        self.methods: dict[str, Callable[..., object]] = {}
        self._open: list[str] = []
        for name, value in vars(cls).items():
            if name not in _IGNORED:
                self._sort(name, value)

    def _sort(self, name: str, value: object) -> None:
        if name == "__call__":
            raise WrongTypeError(
                f"module '{self.cls.__name__}': '__call__' is the module's own", remedy="define 'forward'"
            )
        if isinstance(value, Member):
            self.pending[name] = value
        elif isinstance(value, Function):
            self.functions[name] = value
        elif isinstance(value, Module):
            self.children[name] = value.renamed(name)
        elif isinstance(value, (tuple, list)) and value and all(isinstance(v, Module) for v in value):
            for child in value:
                if child.name in self.children:
                    raise WrongValueError(f"module '{self.cls.__name__}': two children are named '{child.name}'")
                self.children[child.name] = child
        elif isinstance(value, FunctionType):
            self.methods[name] = value
        else:
            raise WrongTypeError(
                f"module '{self.cls.__name__}': member '{name}' has the type {type(value).__name__}; "
                "only these three member kinds are allowed: functions (@func), Modules, plain Python methods",
                remedy="move constants out of the class body",
            )

    def find(self, name: str) -> object:
        """The member of this name, as a function body sees it; parses it when that has not happened yet."""
        if name in self.functions:
            return self.functions[name]
        if name in self.children:
            return self.children[name]
        member = self.pending[name]
        if name in self._open:
            raise VerifyError(
                f"recursive call: {' -> '.join([*self._open[self._open.index(name) :], name])}",
                remedy="write the repetition as a loop",
            )
        self._open.append(name)
        try:
            members = Members((*self.pending, *self.functions, *self.children), self.find)
            resolver = Resolver(member.function, members, member.enclosing)
            self.functions[name] = parse_function(member.function, resolver, self.session)
        finally:
            self._open.pop()
        return self.functions[name]

    def module(self, entry: str | None, target: Target | None, topologies: Topologies | None) -> Module:
        name = self.cls.__name__
        if not (self.pending or self.functions or self.children or self.methods):
            raise WrongTypeError(f"module '{name}' is empty", remedy="define a function with @func in the class body")
        for pending in self.pending:
            self.find(pending)
        ordered = tuple(self.functions[n] for n in vars(self.cls) if n in self.functions)
        if entry is not None and entry not in [f.name for f in ordered]:
            raise WrongValueError(
                f"module '{name}': entry {entry!r} names no collected function",
                remedy=f"it has: {', '.join(f.name for f in ordered) or 'none'}",
            )
        children = tuple(self.children.values())
        return Module(name, ordered, entry, children, target, topologies, methods=self.methods)
