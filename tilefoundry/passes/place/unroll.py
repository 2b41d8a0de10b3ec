"""Loops of a program without meshes: each iteration becomes values of its own, for the kernels that compute them."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr, TupleGetItem
from tilefoundry.ir.rewrite import Node, Rewriter
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import INDEX_TYPE

MOST = 4096  # calls that a loop may become: compiling some hundred kernels takes minutes


def unrolled(fn: Function) -> Expr:
    """The value of a function with every loop written out.

    Raises:
        VerifyError: how often a loop runs is known at run time only; or it becomes more than `MOST` calls; located.
    """
    assert fn.body is not None
    parts: list[tuple[Expr, Node]] = []
    ends: dict[int, tuple[Expr, ...]] = {}
    for expr in post_order(fn.body):  # what a loop is made of comes before it
        if isinstance(expr, GridRegionExpr):
            values = ends[id(expr)] = _last_values(fn, expr, parts)
            parts.append((expr, values[0] if len(values) == 1 else Tuple(values)))
        elif isinstance(expr, Call) and isinstance(expr.target, TupleGetItem) and id(expr.args[0]) in ends:
            parts.append((expr, ends[id(expr.args[0])][expr.target.index]))
    return Rewriter({}, parts=parts).expr(fn.body) if parts else fn.body


class _Iteration(Rewriter):
    """The body of a loop in one iteration: the variable is a number, an index in windows and a literal for ops."""

    def _rebuild(self, node: Expr) -> Node:
        rebuilt = super()._rebuild(node)
        if not isinstance(rebuilt, Call) or not isinstance(rebuilt.target, Op) or isinstance(rebuilt.target, DimOp):
            return rebuilt
        args = tuple(Constant(arg, INDEX_TYPE) if isinstance(arg, int) else arg for arg in rebuilt.args)
        same = all(a is b for a, b in zip(args, rebuilt.args, strict=True))
        return rebuilt if same else Call(rebuilt.target, args, metadata=rebuilt.metadata)


def _last_values(fn: Function, loop: GridRegionExpr, parts: list[tuple[Expr, Node]]) -> tuple[Expr, ...]:
    """What a loop has carried after its last iteration, or the value of one that carries nothing.

    Args:
        parts: the loops before it and inside of it, written out.
    """
    before = Rewriter({}, parts=parts)
    body = tuple(before.expr(value) for value in loop.yield_values or (loop.body,) if value is not None)
    values = tuple(before.expr(init) for init in loop.init_args)
    indices = _indices(fn, loop)
    calls = sum(isinstance(part, Call) and isinstance(part.target, Op) for part in post_order(*body))
    if calls * len(indices) > MOST:
        raise VerifyError(
            f"the loop over '{loop.induction_var.name}' becomes {calls} calls in each of {len(indices)} iterations: in "
            f"a program without meshes, whose iterations have kernels of their own, expected at most {MOST} in all",
            span=span_of(loop.metadata) or fn.span,
            remedy="compute the iterations at once, by ops on whole tensors, or place the loop: with Mesh(...) around "
            "it, and tf.reshard(x, <layout>, 'rmem') inside",
        )
    if not loop.carried_args:
        indices = indices[-1:]
    for index in indices:
        known: dict[Expr, Node] = {loop.induction_var: index}
        iteration = _Iteration({**dict(zip(loop.carried_args, values, strict=True))}, known)
        values = tuple(iteration.expr(value) for value in body)
    return values


def _indices(fn: Function, loop: GridRegionExpr) -> range:
    """The values of a loop's variable, which must be known; a loop without carries must have one."""
    start, extent, step = loop.start, loop.extent, loop.step
    known = isinstance(start, int) and isinstance(extent, int) and isinstance(step, int)
    if not known or (not loop.carried_args and not range(start, extent, step)):  # type: ignore[arg-type]
        found = f"range({', '.join(map(format_dim, (start, extent, step)))})"
        raise VerifyError(
            f"the loop over '{loop.induction_var.name}' runs as {found}: in a program without meshes, expected numbers "
            "that are known when it is compiled, and an iteration",
            span=span_of(loop.metadata) or fn.span,
            remedy="write numbers, as in range(12), or compile for one extent by tilefoundry.ir.specialize_module; or "
            "place the loop: with Mesh(...) around it, and tf.reshard(x, <layout>, 'rmem') inside",
        )
    assert isinstance(start, int) and isinstance(extent, int) and isinstance(step, int)
    return range(start, extent, step)
