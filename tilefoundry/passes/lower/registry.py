"""Which function lowers which HIR op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op

if TYPE_CHECKING:
    from tilefoundry.passes.lower.context import Lowering
    from tilefoundry.passes.lower.values import Value, Window

Rule = Callable[["Lowering", Call], "Value"]
Writer = Callable[["Lowering", Call, "Window", bool], None]
Condition = Callable[[Call, int], bool]
_RULES: dict[type[Op], Rule] = {}
_FUSES: dict[type[Op], Condition] = {}
_WRITERS: dict[type[Op], Writer] = {}
_WRITERS_OF_OTHERS: dict[type[Op], Writer] = {}


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
    return _WRITERS.get(op) or _WRITERS_OF_OTHERS.get(op)


def writer_of(value: Expr) -> Writer | None:
    """What writes a value into global memory; None for values of loops, and of ops that have no such function."""
    return writer_for(type(value.target)) if isinstance(value, Call) and isinstance(value.target, Op) else None


def writes_unless_others(op: type[Op], writer: Writer) -> None:
    """What writes the value of calls to ``op`` if nothing is registered by `writes`."""
    _WRITERS_OF_OTHERS[op] = writer


def always(call: Call, operand: int) -> bool:
    """The condition of ops that take any operand as it is."""
    return True


def fuses(op: type[Op], when: Condition = always) -> None:
    """States which operands of calls to ``op`` may be values that are computed where windows of them are placed."""
    _FUSES[op] = when


def can_fuse(consumer: Call, operand: int) -> bool:
    """Whether an operand of a call may be a value of another op on global tensors, which then goes to no memory.

    True where any tile of the call is computed from tiles of that value; elsewhere the value must lie in memory.

    Args:
        operand: the number of the operand among the arguments of the call.
    """
    when = _FUSES.get(type(consumer.target))  # type: ignore[arg-type]
    return when is not None and when(consumer, operand)
