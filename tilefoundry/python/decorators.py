"""``@func`` and ``@module``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import overload

from tilefoundry.diagnostics import TileFoundryError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module, check_member_name
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.verify import verify_function, verify_module
from tilefoundry.python.collector import Collector
from tilefoundry.python.drafts import Draft
from tilefoundry.python.function import Role, parse_function
from tilefoundry.python.members import Authored, Member, the_function
from tilefoundry.python.names import Resolver, enclosing_names, is_class_body
from tilefoundry.python.parser import Session
from tilefoundry.python.sites import ClassSite, at
from tilefoundry.python.values import describe
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
    **unknown: object,
) -> object:
    """Turns a Python function into a Function; with `topologies` or `target`, into a Module with that one function.

    Outside of a class, a Function whose body is ``pass`` takes its variants, and any takes converters, by
    ``@fn.specialize`` and ``@fn.converter`` until it is first used.

    Raises:
        VerifyError: the program is malformed; located in the author's file.
        WrongTypeError: what is decorated is not a plain function, or an argument is unknown or of the wrong type.
    """
    frame = sys._getframe(1)
    with at(frame):
        _check_known(
            "@func", unknown, "@func takes topologies and target; variants are written with @fn.specialize(...)"
        )
        if function is not None:
            return _func(function, frame, topologies, target)

    def decorate(decorated: object) -> object:
        frame = sys._getframe(1)
        with at(frame):
            return _func(decorated, frame, topologies, target)

    return decorate


def _func(decorated: object, frame: FrameType, topologies: Topologies | None, target: Target | None) -> object:
    function = the_function("@func", decorated)
    around = enclosing_names(frame)
    if topologies is None and target is None:
        if is_class_body(frame):
            return _member(function, frame, around)
        parsed = parse_function(function, Resolver(function, enclosing=around), Session(), Role.DRAFT)
        draft = Draft.of(parsed)
        if draft.body is not None:
            verify_function(draft)
        return draft
    _check_context(function.__name__, topologies, target)
    try:
        check_member_name(function.__name__)
    except WrongValueError as error:
        raise error.at(Authored(function, {}).span) from None
    parsed = parse_function(function, Resolver(function, enclosing=around), Session(topologies))
    module = Module(parsed.name, (parsed,), entry=parsed.name, target=target, topologies=topologies)
    verify_module(module)
    return module


def _member(function: FunctionType, frame: FrameType, around: dict[str, object]) -> Member:
    known = frame.f_locals.get(function.__name__)
    if known is not None and known is not function:
        raise WrongValueError(
            f"the class has a member '{function.__name__}' already",
            span=Authored(function, {}).span,
            remedy="give each member a name of its own",
        )
    return Member(Authored(function, around))


def _check_known(decorator: str, unknown: Mapping[str, object], remedy: str) -> None:
    for name in unknown:
        raise WrongTypeError(f"{decorator}: unexpected argument '{name}'", remedy=remedy)


def _check_context(name: str, topologies: object, target: object) -> None:
    if topologies is not None and (
        not isinstance(topologies, tuple) or not all(isinstance(t, Topology) for t in topologies)
    ):
        raise WrongTypeError(
            f"'{name}': topologies must be a tuple of Topology, got {topologies!r}",
            remedy='write topologies=(Topology("cta", 64), Topology("thread", 128))',
        )
    if target is not None and not isinstance(target, Target):
        raise WrongTypeError(
            f"'{name}': target must be a Target, got {target!r}",
            remedy='write an instance, such as CudaTarget("nvidia.h200_sxm") or CpuTarget()',
        )


@overload
def module(cls: type, /) -> Module: ...
@overload
def module(
    *, entry: str | None = None, target: Target | None = None, topologies: Topologies | Undeclared = UNDECLARED
) -> Callable[[type], Module]: ...
def module(
    cls: type | None = None,
    /,
    *,
    entry: str | None = None,
    target: Target | None = None,
    topologies: Topologies | Undeclared = UNDECLARED,
    **unknown: object,
) -> object:
    """Class decorator: a Module from the functions, child modules and methods in a class body.

    Args:
        entry: the function that a call runs.
        target: what the module is written for; only a root declares one.
        topologies: levels that ``with Mesh`` may name, outermost first; not given: the owner's.

    Raises:
        VerifyError: a function is malformed; located in the author's file.
        WrongTypeError: a member is of another kind, or an argument is unknown or of the wrong type.
        WrongValueError: `entry` names no function, or names clash.
    """
    frame = sys._getframe(1)
    with at(frame):
        _check_known("@module", unknown, "@module takes entry, target and topologies")
        if cls is not None:
            return _module(cls, frame, entry, target, topologies)

    def decorate(decorated: object) -> Module:
        frame = sys._getframe(1)
        with at(frame):
            return _module(decorated, frame, entry, target, topologies)

    return decorate


def _module(
    cls: object, frame: FrameType, entry: object, target: Target | None, topologies: Topologies | Undeclared
) -> Module:
    if not isinstance(cls, type):
        raise WrongTypeError(
            f"@module: expected a class, got {describe(cls)}",
            remedy='decorate a class: @module(entry="f")',
        )
    levels = None if isinstance(topologies, Undeclared) else topologies
    if topologies is None:
        raise WrongTypeError(
            f"'{cls.__name__}': topologies must be a tuple of Topology, got None",
            remedy="leave topologies out to inherit the owner's, or write topologies=() for none",
        )
    _check_context(cls.__name__, levels, target)
    if entry is not None and not isinstance(entry, str):
        raise WrongTypeError(
            f"'{cls.__name__}': entry must be the name of a function, got {describe(entry)}",
            remedy='write it as a string: entry="f"',
        )
    site = ClassSite.of(cls, frame)
    try:
        built = Collector(cls, Session(levels), site).module(entry, target, levels)
        verify_module(built, owned=True)
    except TileFoundryError as error:
        if error.span is not None:
            raise
        raise error.at(site.place) from error.__cause__
    return built
