"""Every variable is bound once, and used only where it is bound."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.traverse import free_variables, post_order


def verify_variables(fn: Function) -> None:
    """Refuses a variable that two loops bind, or that is used outside of its loop.

    Raises:
        VerifyError: naming the variable.
    """
    if fn.body is None:
        return
    bound = set(fn.params)
    for expr in post_order(fn.body):
        if isinstance(expr, GridRegionExpr):
            for var in (expr.induction_var, *expr.carried_args):
                if var in bound:
                    raise VerifyError(
                        f"function '{fn.name}': variable '{var.name}' is bound twice",
                        span=span_of(expr.metadata),
                        remedy="make a new Var for each loop",
                    )
                bound.add(var)
    loose = free_variables(fn.body)[id(fn.body)] - frozenset(fn.params)
    if loose:
        names = ", ".join(sorted(f"'{v.name}'" for v in loose))
        span = next((s for v in loose if (s := span_of(v.metadata)) is not None), fn.span)
        raise VerifyError(
            f"function '{fn.name}' uses {names} outside of the loop or function that binds it",
            span=span,
            remedy="carry the value out of the loop, or pass it as a parameter",
        )
