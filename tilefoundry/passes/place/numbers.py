"""Numbers that are computed from tensors, and extents: what kernels pass on is a tensor, which each of them reads."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import Reduce, Reshape, Reshard
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.place.kinds import tensor


def numbers_in_memory(results: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The results, in which each number that a tensor is reduced to is read from a tensor of one element.

    So are vectors of extents and of numbers, which reside nowhere until they are written.
    """
    parts: list[tuple[Expr, Expr | int]] = []
    for expr in post_order(*results):
        if isinstance(expr, Call) and _is_reduced(expr):
            (operand,) = (Rewriter({}, parts=parts).expr(arg) for arg in expr.args if isinstance(arg, Expr))
            assert isinstance(expr.target, Reduce)
            kept = Call(replace(expr.target, keepdim=True), (operand,), metadata=expr.metadata)
            parts.append((expr, Call(Reshape(()), (kept,), metadata=expr.metadata)))
        elif isinstance(expr, Call) and _resides_nowhere(expr):
            value = Rewriter({}, parts=parts).expr(expr)
            if _resides_nowhere(value):
                written = Call(Reshard(Layout(tensor(value).shape), StorageKind.GMEM), (value,), metadata=expr.metadata)
                parts.append((expr, written))
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


def _resides_nowhere(value: Expr) -> bool:
    """Whether a tensor with axes is made of numbers alone, which no memory holds."""
    type_ = value.type
    return isinstance(type_, TensorType) and type_.rank > 0 and type_.storage is StorageKind.UMAT
