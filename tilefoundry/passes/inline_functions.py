"""Calls between functions of HIR: each becomes the value of the callee, in the same kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.elaborate import Elaborator
from tilefoundry.passes.base import CALL_FREE, HIR, Pass
from tilefoundry.target import Target


@dataclass(frozen=True)
class InlineFunctions(Pass):
    """Takes the calls of functions out of the entry.

    Raises:
        VerifyError: when it runs: a body does not fit the types of the arguments.
    """

    name: ClassVar[str] = "inline-functions"
    requires: ClassVar[frozenset[str]] = frozenset({HIR})
    establishes: ClassVar[frozenset[str]] = frozenset({CALL_FREE})

    def run(self, module: Module, target: Target) -> Module:
        """The Module with the entry replaced; itself when the entry calls no function."""
        entry = module.entry_function()
        if not isinstance(entry, Function):
            raise WrongTypeError(f"lower: the entry '{module.entry}' is no function", remedy="decorate it with @func")
        inlined = Elaborator().without_calls(entry)
        if inlined is entry:
            return module
        return replace(module, functions=tuple(inlined if fn is entry else fn for fn in module.functions))
