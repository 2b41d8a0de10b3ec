"""Walking the DAG of a function, without recursion: programs are deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir.grid_region import GridRegionExpr

FreeVars = dict[int, frozenset[Var]]


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that `expr` is made of directly; of a loop, its bounds, initial values and body."""
    match expr:
        case Call():
            parts: Iterable[object] = expr.args
        case Tuple():
            parts = expr.elements
        case GridRegionExpr():
            body = () if expr.body is None else (expr.body,)
            parts = (expr.start, expr.extent, expr.step, *expr.init_args, *expr.yield_values, *body)
        case _:
            parts = ()
    return tuple(p for p in parts if isinstance(p, Expr))


def post_order(*roots: Expr) -> Iterator[Expr]:
    """Every distinct expression below some roots, operands first, in the order of the program."""
    seen: set[int] = set()
    todo: list[tuple[Expr, bool]] = [(root, False) for root in reversed(roots)]
    while todo:
        expr, ready = todo.pop()
        if ready:
            yield expr
        elif id(expr) not in seen:
            seen.add(id(expr))
            todo.append((expr, True))
            todo.extend((part, False) for part in reversed(operands_of(expr)))


def free_variables(*roots: Expr) -> FreeVars:
    """For each expression below `roots` (by id), the Vars that it uses and does not bind."""
    free: FreeVars = {}
    for expr in post_order(*roots):
        match expr:
            case Var():
                free[id(expr)] = frozenset((expr,))
            case GridRegionExpr():
                inside = [*expr.yield_values, *(() if expr.body is None else (expr.body,))]
                body = frozenset().union(*(free[id(e)] for e in inside))
                outside = [e for e in (expr.start, expr.extent, expr.step, *expr.init_args) if isinstance(e, Expr)]
                around = frozenset().union(*(free[id(e)] for e in outside))
                free[id(expr)] = around | (body - {expr.induction_var, *expr.carried_args})
            case _:
                free[id(expr)] = frozenset().union(*(free[id(e)] for e in operands_of(expr)))
    return free
