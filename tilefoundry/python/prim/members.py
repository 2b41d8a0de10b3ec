"""Kernels in the body of a class: what ``@prim_func`` leaves there until ``@module`` parses it."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir import tir
from tilefoundry.python.members import Authored, Placeholder
from tilefoundry.python.names import Members, Resolver
from tilefoundry.python.parser import Session
from tilefoundry.python.prim.function import Options, parse_prim_func


@dataclass(eq=False, repr=False)
class PrimMember(Placeholder):
    """A kernel that is being authored: parsed by ``@module``, which knows topologies and siblings."""

    definition: Authored
    options: Options
    sealed: bool = False

    @property
    def described(self) -> str:
        return f"the kernel '{self.name}' of this class"

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.definition.function.__name__

    def parse(self, members: Members, session: Session) -> tir.PrimFunction:
        """The kernel, as a member of its class."""
        definition = self.definition
        resolver = Resolver(definition.function, members, definition.enclosing)
        return parse_prim_func(definition.function, resolver, session, self.options)
