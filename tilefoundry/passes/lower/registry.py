"""Which function lowers which HIR op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.op import Op

if TYPE_CHECKING:
    from tilefoundry.passes.lower.context import Lowering
    from tilefoundry.passes.lower.values import Value

Rule = Callable[["Lowering", Call], "Value"]
_RULES: dict[type[Op], Rule] = {}


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
