"""Kernels in the body of a class: what ``@prim_func`` leaves there until ``@module`` parses it."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir import tir
from tilefoundry.python.members import Authored
from tilefoundry.python.names import Members, Resolver
from tilefoundry.python.parser import Session
from tilefoundry.python.prim.function import Options, parse_prim_func


@dataclass(eq=False)
class PrimMember:
    """A kernel that is being authored: parsed by ``@module``, which knows topologies and siblings."""

    definition: Authored
    options: Options
    sealed: bool = False

    def __call__(self, *args: object) -> object:
        raise WrongTypeError(
            f"'{self.definition.function.__qualname__}' belongs to a class that is not a module yet",
            span=self.definition.span,
            remedy="decorate the class with @module",
        )

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.definition.function.__name__

    def parse(self, members: Members, session: Session) -> tir.PrimFunction:
        """The kernel, as a member of its class."""
        definition = self.definition
        resolver = Resolver(definition.function, members, definition.enclosing)
        return parse_prim_func(definition.function, resolver, session, self.options)
