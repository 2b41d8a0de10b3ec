"""Numbers that are computed from tensors: what kernels pass on is a tensor of one element, which each of them reads."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import Reduce, Reshape
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType


def numbers_in_memory(results: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The results, in which each number that a tensor is reduced to is read from a tensor of one element."""
    parts: list[tuple[Expr, Expr | int]] = []
    for expr in post_order(*results):
        if isinstance(expr, Call) and _is_reduced(expr):
            (operand,) = (Rewriter({}, parts=parts).expr(arg) for arg in expr.args if isinstance(arg, Expr))
            assert isinstance(expr.target, Reduce)
            kept = Call(replace(expr.target, keepdim=True), (operand,), metadata=expr.metadata)
            parts.append((expr, Call(Reshape(()), (kept,), metadata=expr.metadata)))
    rewriter = Rewriter({}, parts=parts)
    return tuple(rewriter.expr(result) for result in results)


def _is_reduced(call: Call) -> bool:
    """Whether a call reduces a tensor in memory to a number."""
    return (
        isinstance(call.target, Op)
        and isinstance(call.target, Reduce)
        and isinstance(call.type, TensorType)
        and not call.type.rank
        and call.type.storage is StorageKind.GMEM
    )
