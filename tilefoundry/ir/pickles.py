"""How expressions and functions are pickled: as a list of their nodes, since the depth of a DAG would be too much.

Values of the IR never change, so that copies are the values themselves (see `Expr.__copy__`); what a pickle gives is
another program of the same structure. Importing this module is what makes expressions and functions picklable.
"""

from __future__ import annotations

import copyreg
import dataclasses
from dataclasses import dataclass
from typing import Any

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.traverse import post_order

Node = tuple[type[Expr], tuple[object, ...]]  # a class, and what it is built from
Made = tuple[Any, tuple[Any, ...]]  # what builds a value, and from what


@dataclass(frozen=True, slots=True)
class _At:
    """Stands for the node at this place of the list."""

    index: int


def reduced_function(function: Function) -> Made:
    """How a function is built again; a front end's draft becomes a Function."""
    nodes, body = _flat(function.body) if function.body is not None else ([], None)
    fields = {f.name: getattr(function, f.name) for f in dataclasses.fields(Function)} | {"body": body}
    return _function, (nodes, fields)


def _reduced_expr(expr: Expr) -> Made:
    if _is_leaf(expr):
        return type(expr), _fields(expr)
    return _last, (_flat(expr)[0],)


def _is_leaf(expr: Expr) -> bool:
    """Whether pickle may go on into an expression: it is shallow, and types hold it beside the list of nodes."""
    return not isinstance(expr, (Call, Tuple, GridRegionExpr)) or (
        isinstance(expr, Call) and isinstance(expr.target, DimOp)
    )


def _fields(expr: Expr) -> tuple[object, ...]:
    return tuple(getattr(expr, f.name) for f in dataclasses.fields(expr))  # type: ignore[arg-type]  # all are dataclasses


def _flat(body: Expr) -> tuple[list[Node], object]:
    """The nodes of a DAG, operands first, and what stands for the DAG among them."""
    places: dict[int, _At] = {}
    nodes: list[Node] = []

    def written(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(written, value))
        return places.get(id(value), value) if isinstance(value, Expr) else value

    for expr in post_order(body):
        if not _is_leaf(expr):
            nodes.append((type(expr), tuple(map(written, _fields(expr)))))
            places[id(expr)] = _At(len(nodes) - 1)
    return nodes, written(body)


def _built(nodes: list[Node]) -> list[Expr]:
    made: list[Expr] = []
    for cls, fields in nodes:
        made.append(cls(*(_read(field, made) for field in fields)))
    return made


def _read(value: object, made: list[Expr]) -> object:
    if isinstance(value, tuple):
        return tuple(_read(v, made) for v in value)
    return made[value.index] if isinstance(value, _At) else value


def _last(nodes: list[Node]) -> Expr:
    return _built(nodes)[-1]


def _function(nodes: list[Node], fields: dict[str, Any]) -> Function:
    return Function(**fields | {"body": _read(fields["body"], _built(nodes))})


copyreg.pickle(Function, reduced_function)
for _cls in (Call, Tuple, GridRegionExpr):
    copyreg.pickle(_cls, _reduced_expr)
