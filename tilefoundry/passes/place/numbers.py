"""Numbers that are computed from tensors, and extents: what kernels pass on is a tensor, which each of them reads."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ArgMax, ArgMin, Reduce, Reshape, Reshard, Unsqueeze
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.place.kinds import ELEMENTWISE, tensor


def numbers_in_memory(results: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The results, in which each number that a tensor is reduced to is read from a tensor of one element.

    So are vectors of extents and of numbers, which reside nowhere until they are written. A number that is given axes
    is that tensor under them; where it is computed from others, it is computed under them.
    """
    parts: list[tuple[Expr, Expr | int]] = []
    for expr in post_order(*results):
        if isinstance(expr, Call) and _is_reduced(expr):
            (operand,) = (Rewriter({}, parts=parts).expr(arg) for arg in expr.args if isinstance(arg, Expr))
            parts.append((expr, Call(Reshape(()), (_kept(expr, operand),), metadata=expr.metadata)))
        elif isinstance(expr, Call) and (_resides_nowhere(expr) or _is_of_number(expr)):
            value = Rewriter({}, parts=parts).expr(expr)
            if _is_of_number(expr):
                value = _under_axes(expr, value)
            if _resides_nowhere(value):
                value = Call(Reshard(Layout(tensor(value).shape), StorageKind.GMEM), (value,), metadata=expr.metadata)
            if value is not expr:
                parts.append((expr, value))
    rewriter = Rewriter({}, parts=parts)
    return tuple(rewriter.expr(result) for result in results)


def _kept(call: Call, operand: Expr) -> Call:
    """The number as a tensor of one element: a search has it of a matrix of one row."""
    if isinstance(call.target, Reduce):
        return Call(replace(call.target, keepdim=True), (operand,), metadata=call.metadata)
    assert isinstance(call.target, (ArgMax, ArgMin))
    row = Call(Unsqueeze(0), (operand,), metadata=call.metadata)
    return Call(replace(call.target, axis=1), (row,), metadata=call.metadata)


def _under_axes(call: Call, value: Expr) -> Expr:
    """A number that is given axes: the tensor that keeps it, under these, and so what is computed from such numbers."""
    assert isinstance(value, Call)
    (number,) = value.args
    shape = tensor(call).shape
    known: dict[int, Expr] = {}
    for node in post_order(value):
        if not isinstance(node, Call) or not isinstance(node.type, TensorType) or node.type.rank:
            continue
        if node.target == Reshape(()):
            known[id(node)] = Call(Reshape(shape), node.args, metadata=node.metadata)
        elif isinstance(node.target, ELEMENTWISE) and any(id(arg) in known for arg in node.args):
            args = tuple(known.get(id(arg), arg) for arg in node.args)
            known[id(node)] = Call(node.target, args, metadata=node.metadata)
    return known.get(id(number)) or Call(Reshape(shape), (number,), metadata=call.metadata)


def _is_reduced(call: Call) -> bool:
    """Whether a call reduces a tensor in memory to a number."""
    return (
        isinstance(call.target, (Reduce, ArgMax, ArgMin))
        and isinstance(call.type, TensorType)
        and not call.type.rank
        and call.type.storage is StorageKind.GMEM
    )


def _is_of_number(call: Call) -> bool:
    """Whether a call gives a number an axis."""
    return isinstance(call.target, (Reshape, Unsqueeze)) and tensor(call).rank > 0 and not tensor(call.args[0]).rank


def _resides_nowhere(value: Expr) -> bool:
    """Whether a tensor with axes is made of numbers alone, which no memory holds."""
    type_ = value.type
    return isinstance(type_, TensorType) and type_.rank > 0 and type_.storage is StorageKind.UMAT
