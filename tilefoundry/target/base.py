"""Target: the value class that all targets derive from, and their registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError


@dataclass(frozen=True, slots=True)
class TopologyLevel:
    """A level that programs may place units on, and the most units of it that one unit above may hold."""

    name: str
    limit: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """What a program is compiled for. Compared by value."""

    name: ClassVar[str] = ""

    @property
    def levels(self) -> tuple[TopologyLevel, ...]:
        """The topology levels, outermost first."""
        raise NotImplementedError

    @property
    def topology_levels(self) -> tuple[str, ...]:
        """The names of the topology levels, outermost first."""
        return tuple(level.name for level in self.levels)

    def canonical_text(self) -> str:
        """Everything about this target that a compiled program depends on, as stable text; part of cache keys."""
        raise NotImplementedError


_registry: dict[str, type[Target]] = {}
TargetClass = TypeVar("TargetClass", bound=type[Target])


def register_target(cls: TargetClass) -> TargetClass:
    """Class decorator: makes a Target class known by its `name`.

    Raises:
        WrongTypeError: the class is no Target or has no name.
        WrongValueError: another class has the name.
    """
    if not (isinstance(cls, type) and issubclass(cls, Target)) or not isinstance(cls.name, str) or not cls.name:
        raise WrongTypeError(
            f"register_target: {cls!r} must derive from Target and have a `name` class variable",
            remedy='derive from Target, and write name: ClassVar[str] = "..." in the class',
        )
    if cls.name in _registry:
        raise WrongValueError(
            f"register_target: the name '{cls.name}' is taken by {_registry[cls.name].__qualname__}",
            remedy="choose another name",
        )
    _registry[cls.name] = cls
    return cls


def target_names() -> tuple[str, ...]:
    """The names of all registered targets, sorted."""
    return tuple(sorted(_registry))


def target_class(name: str) -> type[Target]:
    """The registered class of this name.

    Raises:
        WrongValueError: there is none.
    """
    if name not in _registry:
        raise WrongValueError(f"unknown target {name!r}", remedy=f"use one of {', '.join(target_names())}")
    return _registry[name]
