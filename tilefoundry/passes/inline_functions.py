"""Calls between functions of HIR: each becomes the value of the callee, in the same kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

from tilefoundry.diagnostics import VerifyError, WrongTypeError
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.elaborate import Elaborator, called_prototypes
from tilefoundry.passes.base import CALL_FREE, CHILD_FREE, HIR, Pass
from tilefoundry.passes.ranges import divided
from tilefoundry.target import Target


@dataclass(frozen=True)
class InlineFunctions(Pass):
    """Takes the calls of functions out of the entry, which becomes a prototype where an extent decides what it calls.

    Raises:
        VerifyError: when it runs: a body does not fit the types of the arguments, or these leave open which variant of
            a prototype serves a call.
    """

    name: ClassVar[str] = "inline-functions"
    requires: ClassVar[frozenset[str]] = frozenset({HIR, CHILD_FREE})
    establishes: ClassVar[frozenset[str]] = frozenset({CALL_FREE})

    def run(self, module: Module, target: Target) -> Module:
        """The Module with the entry replaced; itself when the entry calls no function."""
        entry = module.entry_function()
        if not isinstance(entry, Function):
            raise WrongTypeError(f"lower: the entry '{module.entry}' is no function", remedy="decorate it with @func")
        # What a variant calls is decided once it is lowered for the extents of its range.
        inlined = divided(Elaborator().without_calls(entry))
        if not inlined.variants:
            check_decided(inlined)
        if inlined is entry:
            return module
        return replace(module, functions=tuple(inlined if fn is entry else fn for fn in module.functions))


def without_calls(fn: Function) -> Function:
    """The function with the values of what it calls; itself when it calls nothing.

    Raises:
        VerifyError: as `InlineFunctions`.
    """
    inlined = Elaborator().without_calls(fn)
    check_decided(inlined)
    return inlined


def check_decided(fn: Function) -> None:
    """Refuses a function that calls a prototype of which several variants may serve the call.

    Raises:
        VerifyError: as `InlineFunctions`.
    """
    for call in called_prototypes(fn):
        _undecided(call)


def _undecided(call: Call) -> NoReturn:
    assert isinstance(call.target, Function)
    (pattern,) = call.target.variants[0].specializations
    ranges = ", ".join(f"[{p.lo}, {p.hi})" for v in call.target.variants for p in v.specializations)
    raise VerifyError(
        f"the extents of this call of '{call.target.name}' may lie in several of the ranges {ranges} of "
        f"'{pattern.dim_var}', and no extent of a parameter decides all calls of the entry",
        span=span_of(call.metadata),
        remedy="compile the module for extents of one range, one program for each: "
        'tilefoundry.ir.specialize_module(module, {"S": DimVar("S", lo, hi)})',
    )
