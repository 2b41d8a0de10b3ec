"""Resolves a name inside a decorated function as Python would: closure, members of the class, globals, builtins."""

from __future__ import annotations

import builtins
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType, FunctionType

CO_OPTIMIZED = 0x1  # set for function bodies, not for class bodies and modules


@dataclass(frozen=True)
class Members:
    """The members of the class that a function is written in, in order; `find` parses one on first use."""

    names: tuple[str, ...] = ()
    find: Callable[[str], object] = field(default=lambda name: None, repr=False)
    children: tuple[object, ...] = ()
    methods: tuple[str, ...] = ()  # plain Python, which a tensor program cannot call

    def is_child(self, value: object) -> bool:
        """Whether `value` is one of the child modules, by identity."""
        return any(value is child for child in self.children)


@dataclass(frozen=True)
class Resolver:
    """What the free names of one function mean.

    A member of the class hides a global of the same name, although Python's own methods do not see the class body:
    functions of one module call each other by their bare names.

    Attributes:
        enclosing: names in the scopes around the function. Python's closures hold those that the body uses; annotations
            are evaluated outside of the body, and see all of them.
        in_annotation: an annotation is being resolved.
    """

    function: FunctionType
    members: Members = Members()
    enclosing: Mapping[str, object] = field(default_factory=dict)
    in_annotation: bool = False

    def for_annotations(self) -> Resolver:
        """The resolver of names in the function's annotations."""
        return replace(self, in_annotation=True)

    def locals(self) -> frozenset[str]:
        """The names that Python makes local to the function: everything that it assigns, and its parameters."""
        code = self.function.__code__
        return frozenset() if self.in_annotation else frozenset(code.co_varnames + code.co_cellvars)

    def lookup(self, name: str) -> object:
        """The value of a name that is not local. Raises KeyError; ValueError when a closure cell is still empty."""
        code, mangled = self.function.__code__, self.mangled(name)
        if mangled in code.co_freevars and not (self.in_annotation and name in self.enclosing):
            assert self.function.__closure__ is not None
            return self.function.__closure__[code.co_freevars.index(mangled)].cell_contents
        if mangled in self.members.names and not self.in_annotation:
            return self.members.find(mangled)
        if mangled in self.enclosing and mangled not in code.co_names:
            return self.enclosing[mangled]  # only the annotation of a local name reads it: no code, so no cell
        return self.outside(name)

    def outside(self, name: str) -> object:
        """What the name means where the class, if any, stands. Raises KeyError."""
        mangled = self.mangled(name)
        for scope in (self.enclosing if self.in_annotation else {}, self.function.__globals__, vars(builtins)):
            if mangled in scope:
                return scope[mangled]
        raise KeyError(name)

    def mangled(self, name: str) -> str:
        """A private name as Python spells it for the class around the function."""
        owner = self.function.__qualname__.rpartition(".")[0].rpartition(".")[2].lstrip("_")
        private = name.startswith("__") and not name.endswith("__") and owner not in ("", "<locals>")
        return f"_{owner}{name}" if private else name

    def close_matches(self, name: str, also: Iterable[str] = ()) -> list[str]:
        """Visible names that look like `name`, for messages."""
        visible = {*also, *self.members.names, *self.function.__code__.co_freevars, *self.function.__globals__}
        return difflib.get_close_matches(name, sorted(visible), n=3)


def is_class_body(frame: FrameType) -> bool:
    """Whether `frame` runs the body of a ``class`` statement (and not a text given to ``exec``, by its name)."""
    named = frame.f_code.co_name != "<module>"
    return named and not frame.f_code.co_flags & CO_OPTIMIZED and frame.f_locals is not frame.f_globals


def enclosing_names(frame: FrameType) -> dict[str, object]:
    """The names in the scopes around the code that `frame` runs, as an annotation there sees them.

    Inner names hide outer ones. Of classes, only the innermost is seen.
    """
    found: dict[str, object] = {}
    current: FrameType | None = frame
    while current is not None and current.f_locals is not current.f_globals:
        if current is frame or not is_class_body(current):
            for name, value in current.f_locals.items():
                found.setdefault(name, value)
        outer = current.f_back
        current = outer if outer is not None and _encloses(outer.f_code, current.f_code) else None
    return found


def _encloses(outer: CodeType, inner: CodeType) -> bool:
    return any(constant is inner for constant in outer.co_consts)
