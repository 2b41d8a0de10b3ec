"""Walking the DAG of a function, without recursion: programs are deep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir.grid_region import GridRegionExpr

FreeVars = dict[int, frozenset[Var]]


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that `expr` is made of directly; of a loop, its bounds, initial values and body."""
    if isinstance(expr, Call):
        parts: tuple[object, ...] = expr.args
    elif isinstance(expr, Tuple):
        parts = expr.elements
    elif isinstance(expr, GridRegionExpr):
        body = () if expr.body is None else (expr.body,)
        parts = (expr.start, expr.extent, expr.step, *expr.init_args, *expr.yield_values, *body)
    else:
        return ()
    return tuple([p for p in parts if isinstance(p, Expr)])


def post_order(*roots: Expr, known: Callable[[Expr], bool] | None = None) -> Iterator[Expr]:
    """Every distinct expression below some roots, operands first, in the order of the program.

    Args:
        known: tells the expressions to leave out, with all that only they reach.
    """
    seen: set[int] = set()
    todo: list[Expr | None] = [*reversed(roots)]
    while todo:
        expr = todo.pop()
        if expr is None:  # the one below it has had its operands
            ready = todo.pop()
            assert ready is not None
            yield ready
        elif id(expr) not in seen:
            seen.add(id(expr))
            if known is not None and known(expr):
                continue
            parts = operands_of(expr)
            if parts:
                todo += (expr, None, *reversed(parts))
            else:
                yield expr


def free_variables(*roots: Expr) -> FreeVars:
    """For each expression below `roots` (by id), the Vars that it uses and does not bind."""
    free: FreeVars = {}
    for expr in post_order(*roots):
        if isinstance(expr, Var):
            free[id(expr)] = frozenset((expr,))
        elif isinstance(expr, GridRegionExpr):
            inside = [*expr.yield_values, *(() if expr.body is None else (expr.body,))]
            outside = [e for e in (expr.start, expr.extent, expr.step, *expr.init_args) if isinstance(e, Expr)]
            bound = {expr.induction_var, *expr.carried_args}
            free[id(expr)] = _union([free[id(e)] for e in outside]) | (_union([free[id(e)] for e in inside]) - bound)
        else:
            free[id(expr)] = _union([free[id(e)] for e in operands_of(expr)])
    return free


def _union(sets: Sequence[frozenset[Var]]) -> frozenset[Var]:
    """The union; one of the sets itself where that holds the others, so that a chain of values shares one set."""
    largest = max(sets, key=len, default=_NONE)
    return largest if all(s is largest or s <= largest for s in sets) else largest.union(*sets)


_NONE: frozenset[Var] = frozenset()
