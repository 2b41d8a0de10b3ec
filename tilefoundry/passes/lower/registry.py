"""Which function lowers which HIR op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.op import Op

if TYPE_CHECKING:
    from tilefoundry.passes.lower.context import Lowering
    from tilefoundry.passes.lower.values import Value, Window

Rule = Callable[["Lowering", Call], "Value"]
Writer = Callable[["Lowering", Call, "Window", bool], None]
_RULES: dict[type[Op], Rule] = {}
_WRITERS: dict[type[Op], Writer] = {}


def lowers(op: type[Op]) -> Callable[[Rule], Rule]:
    """Registers the decorated function as the lowering of calls to ``op``."""

    def register(rule: Rule) -> Rule:
        if op in _RULES:
            raise ValueError(f"{op.__name__} has two lowerings")
        _RULES[op] = rule
        return rule

    return register


def rule_for(op: type[Op]) -> Rule | None:
    """The lowering of ``op``, or None."""
    return _RULES.get(op)


def writes(op: type[Op]) -> Callable[[Writer], Writer]:
    """Registers the decorated function as what writes the value of calls to ``op`` into a window of global memory.

    It takes whether the instances of all CTAs share the work, or those of one.
    """

    def register(writer: Writer) -> Writer:
        if op in _WRITERS:
            raise ValueError(f"{op.__name__} has two writers")
        _WRITERS[op] = writer
        return writer

    return register


def writer_for(op: type[Op]) -> Writer | None:
    """What writes the value of calls to ``op`` into global memory, or None."""
    return _WRITERS.get(op)
