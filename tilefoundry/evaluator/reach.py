"""Which children of a Module a call of one of its functions reaches."""

from __future__ import annotations

from tilefoundry.evaluator.inputs import bind_extents, check_inputs
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.elaborate import functions_reached
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.variants import variant_for


def reached_children(function: Function, args: tuple[object, ...] | None) -> tuple[str, ...]:
    """The names of the children whose entries the function calls on their own weights, in the order of the program.

    Args:
        args: one for each declared parameter: they select the variant of a prototype. None leaves that open, and what
            only a variant calls is not reached. The variants of a prototype that is called inside are all reached.

    Raises:
        EvalError: the arguments of a prototype do not fit.
    """
    if function.variants and args is not None:
        function = variant_for(function, bind_extents(function, check_inputs(function, args, None, widened=True)))
    parts = (part for called in functions_reached(function)[1:] for part in called.variants)
    bodies = [part.body for part in (function, *parts) if part.body is not None]
    targets = (c.target for c in post_order(*bodies) if isinstance(c, Call))
    return tuple(dict.fromkeys(t.child for t in targets if isinstance(t, ChildEntry)))
