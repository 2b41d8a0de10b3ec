"""Loops whose iterations are spread over a mesh axis.

Such iterations run in no order and on different units, so they can pass nothing on: a carry may only be a tensor into
which every iteration writes its windows, by insert_slice. Loops that are nested on one mesh axis form one iteration
space, so the outer one may do nothing with its carries but hand them to the inner one.
"""

from __future__ import annotations

from typing import NoReturn

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.hir.shape.insert_slice import InsertSlice
from tilefoundry.ir.hir.shape.tuple_get_item import TupleGetItem
from tilefoundry.ir.traverse import FreeVars, free_variables, post_order


def verify_spread(fn: Function) -> None:
    """Checks the spread loops of a function.

    Raises:
        VerifyError: a carry is written otherwise than by insert_slice, a spread loop carries nothing, or loops spread
            over one axis are not perfectly nested.
    """
    if fn.body is None:
        return
    loops = [e for e in post_order(fn.body) if isinstance(e, GridRegionExpr)]
    if not any(loop.spread for loop in loops):
        return
    free = free_variables(fn.body)
    for loop in loops:
        if loop.spread is not None:
            _check_carries(loop, free)
            _check_nesting(loop)


def loop_result(value: Expr | int) -> tuple[GridRegionExpr, int] | None:
    """The loop and the number of the carry that a value is the result of, or None."""
    match value:
        case GridRegionExpr() if len(value.carried_args) == 1:
            return value, 0
        case Call(target=TupleGetItem(index), args=(GridRegionExpr() as loop,)):
            return loop, index
    return None


def _check_carries(loop: GridRegionExpr, free: FreeVars) -> None:
    assert loop.spread is not None
    if not loop.carried_args:
        raise VerifyError(
            f"the loop over '{loop.induction_var.name}' is spread over '{loop.spread.name}' and carries nothing; "
            "iterations without order have no last value",
            span=span_of(loop.metadata),
            remedy="write results by tf.insert_slice into a tensor made before the loop",
        )
    for var, out in zip(loop.carried_args, loop.yield_values, strict=True):
        _check_written(loop, var, out, free)


def _check_written(loop: GridRegionExpr, var: Var, value: Expr | int, free: FreeVars) -> None:
    """`value` must be `var` with windows inserted, and must not depend on any carry in another way."""
    while value is not var:
        result = loop_result(value)
        if result is not None:
            inner, index = result
            for k, (init, out) in enumerate(zip(inner.init_args, inner.yield_values, strict=True)):
                if k != index:
                    _check_independent(loop, init, free)
                    _check_independent(loop, out, free)
            _check_written(loop, inner.carried_args[index], inner.yield_values[index], free)
            for other, out in zip(inner.carried_args, inner.yield_values, strict=True):
                if other is not inner.carried_args[index] and inner.carried_args[index] in free[id(out)]:
                    _refuse(loop, out)
            value = inner.init_args[index]
            continue
        if not (isinstance(value, Call) and isinstance(value.target, InsertSlice)):
            _refuse(loop, value)
        dst, update, offsets = value.args
        _check_independent(loop, update, free, also=var)
        _check_independent(loop, offsets, free, also=var)
        value = dst


def _check_independent(loop: GridRegionExpr, value: Expr | int, free: FreeVars, also: Var | None = None) -> None:
    if isinstance(value, Expr) and free[id(value)] & {*loop.carried_args, *((also,) if also is not None else ())}:
        _refuse(loop, value)


def _refuse(loop: GridRegionExpr, value: Expr | int) -> NoReturn:
    assert loop.spread is not None
    span = span_of(value.metadata) if isinstance(value, Expr) else None
    raise VerifyError(
        f"iterations spread over '{loop.spread.name}' run in no order; a carry may only be written by insert_slice",
        span=span or span_of(loop.metadata),
        remedy=f"keep the value inside one iteration over '{loop.induction_var.name}', or do not spread that loop",
    )


def _check_nesting(loop: GridRegionExpr) -> None:
    """An inner loop on the same axis must take this loop's carries and give them back, all of them."""
    inner_loops = [
        e
        for e in post_order(*loop.yield_values)
        if isinstance(e, GridRegionExpr) and e.spread == loop.spread and e is not loop
    ]
    if not inner_loops:
        return
    inner = inner_loops[-1]
    results = [loop_result(value) for value in loop.yield_values]
    perfect = (
        len(inner.carried_args) == len(loop.carried_args)
        and all(r is not None and r[0] is inner and r[1] == k for k, r in enumerate(results))
        and all(init is var for init, var in zip(inner.init_args, loop.carried_args, strict=True))
    )
    if not perfect:
        assert loop.spread is not None
        raise VerifyError(
            f"loops over '{loop.induction_var.name}' and '{inner.induction_var.name}' are both spread over "
            f"'{loop.spread.name}' but not perfectly nested",
            span=span_of(inner.metadata) or span_of(loop.metadata),
            remedy="let the outer loop contain the inner one and no other write, or spread only one of them",
        )
