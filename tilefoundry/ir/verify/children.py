"""Calls of children name children."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.traverse import post_order


def verify_children(module: Module, fn: Function) -> None:
    """Checks that what `fn` calls as a child's entry is the entry of a direct child of `module`.

    Raises:
        VerifyError: the Module has no such child, or the child has another entry.
    """
    for part in (fn, *fn.variants):
        for expr in post_order(part.body) if part.body is not None else ():
            if isinstance(expr, Call) and isinstance(expr.target, ChildEntry):
                child = module.child_named(expr.target.child)
                if child is None or child.entry is None or child.entry_function() != expr.target.function:
                    raise VerifyError(
                        f"module '{module.name}' has no child '{expr.target.child}' with this entry",
                        span=span_of(expr.metadata) or fn.span,
                        remedy=f"its children: {', '.join(m.name for m in module.modules) or 'none'}",
                    )
    for _, converter in fn.converters:
        for expr in post_order(converter.body) if converter.body is not None else ():
            if isinstance(expr, Call) and isinstance(expr.target, ChildEntry):
                raise VerifyError(
                    f"the converter '{converter.name}' calls child '{expr.target.child}', whose weights are not read "
                    "while weights are prepared",
                    span=span_of(expr.metadata) or converter.span,
                    remedy="compute the weight from its raw tensors alone",
                )
