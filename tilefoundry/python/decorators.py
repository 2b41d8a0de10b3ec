"""``@func`` and ``@module``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import overload

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.verify import verify_function, verify_module
from tilefoundry.python.collector import Collector
from tilefoundry.python.function import parse_function
from tilefoundry.python.members import Authored, Member
from tilefoundry.python.names import Resolver, enclosing_names, is_class_body
from tilefoundry.python.parser import Session
from tilefoundry.target import Target

Topologies = tuple[Topology, ...]


class Undeclared:
    """Says that a module does not declare topologies: it inherits its owner's."""

    def __repr__(self) -> str:
        return "UNDECLARED"


UNDECLARED = Undeclared()


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
            return _member(function, frame, around)
        parsed = parse_function(function, Resolver(function, enclosing=around), Session())
        verify_function(parsed)
        return parsed
    _check_topologies(function.__name__, topologies)
    parsed = parse_function(function, Resolver(function, enclosing=around), Session(topologies))
    module = Module(parsed.name, (parsed,), entry=parsed.name, target=target, topologies=topologies)
    verify_module(module)
    return module


def _member(function: FunctionType, frame: FrameType, around: dict[str, object]) -> Member:
    known = frame.f_locals.get(function.__name__)
    if known is not None and not isinstance(known, FunctionType):
        raise WrongValueError(
            f"the class has a member '{function.__name__}' already",
            span=Authored(function, {}).span,
            remedy="give each member a name of its own",
        )
    return Member(Authored(function, around))


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
        built = Collector(cls, Session(levels)).module(entry, target, levels)
        verify_module(built)
        return built

    return decorate
