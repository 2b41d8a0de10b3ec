"""Parts of a function that cannot stand where they are used: they become functions of their own, which are called.

A loop body cannot open mesh scopes, and a loop variable cannot have a name that is in use. Programs have both all the
same, where a function was elaborated into its caller; taking the part out again gives it its own scopes and names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilefoundry.ir.core.expr import Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.text.walk import is_inline
from tilefoundry.ir.traverse import operands_of
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Part:
    """A function that computes some values, and what its parameters stand for.

    Attributes:
        uses: the inputs again, once for each time that the part mentions them.
    """

    function: Function
    inputs: tuple[Expr, ...]
    uses: tuple[Expr, ...]


def take_out(
    name: str,
    results: Sequence[Expr],
    is_known: Callable[[Expr], bool],
    parameter: Callable[[Expr], str],
    is_spelled: Callable[[Type], bool],
) -> Part:
    """The function that computes `results` from what has a name already.

    Args:
        is_known: whether a value has a name.
        parameter: a new name for the parameter that stands for a value.
        is_spelled: whether a type can be written in an annotation; where it cannot, the layout is left open.
    """
    inputs: dict[int, Expr] = {}
    uses: list[Expr] = []
    seen: set[int] = set()
    todo: list[Expr] = list(results)
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        for operand in operands_of(expr):
            if is_known(operand):
                inputs.setdefault(id(operand), operand)
                uses.append(operand)
            elif not is_inline(operand) or operands_of(operand):
                todo.append(operand)
    ordered = tuple(inputs.values())
    params = tuple(Var(parameter(e), e.type if is_spelled(e.type) else _without_layout(e.type)) for e in ordered)
    rewriter = Rewriter({}, parts=tuple(zip(ordered, params, strict=True)))
    values = [rewriter.expr(result) for result in results]
    body = values[0] if len(values) == 1 else Tuple(tuple(values))
    return Part(Function(name, params, body, _without_layout(body.type)), ordered, tuple(uses))


def _without_layout(type_: Type) -> Type:
    if isinstance(type_, TupleType):
        return TupleType(tuple(map(_without_layout, type_.fields)))
    return TensorType(type_.shape, type_.dtype) if isinstance(type_, TensorType) else type_
