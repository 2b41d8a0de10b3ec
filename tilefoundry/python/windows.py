"""``tf.insert_slice(dst, update, offsets)``: which axes an update fills, and where windows may overhang."""

from __future__ import annotations

import ast

from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.hir import InsertSlice
from tilefoundry.ir.types import TensorType
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Index, Window, as_index, describe, is_index, is_runtime_index


def insert_slice(p: Parser, node: ast.Call, given: dict[str, tuple[ast.AST, object]]) -> Expr:
    """`dst` with `update` written at `offsets`, one for each axis of `dst`.

    An update of lower rank lacks as many axes of `dst`: those of the leftmost offsets that are not tile windows, where
    it fills one element. A window clips what overhangs; any other write must lie inside: one at an integer scalar that
    the program is given or computes is checked when it runs.
    """
    dst, update = (_tensor(p, node, name, *given[name]) for name in ("dst", "update"))
    where, value = given["offsets"]
    offsets = tuple(read_coordinate(p, where, o) for o in (value if isinstance(value, tuple) else (value,)))
    assert isinstance(dst.type, TensorType) and isinstance(update.type, TensorType)
    rank, update_rank = len(dst.type.shape), len(update.type.shape)
    if len(offsets) != rank:
        p.refuse(
            where,
            f"insert_slice: expected {rank} offsets, one for each axis of dst, got {len(offsets)}",
            "write one offset for each axis: (i, 0)",
        )
    for axis, offset in enumerate(offsets):
        if not is_index(offset) and not is_runtime_index(offset):
            p.refuse(
                where,
                f"insert_slice: offset {axis} must be an int, a loop variable or an integer scalar, got "
                f"{describe(offset)}",
                "use an int, a loop variable, a rank-0 integer tensor, or arithmetic on these",
            )
    candidates = [axis for axis, offset in enumerate(offsets) if not isinstance(offset, Window)]
    if not 0 <= rank - update_rank <= len(candidates):
        p.refuse(
            node,
            f"insert_slice: an update of rank {update_rank} does not fit dst of rank {rank} with "
            f"{rank - len(candidates)} tile window(s) among the offsets",
            remedy="reshape the update, or give one offset for each axis of dst",
        )
    lacking = candidates[: rank - update_rank]
    extents = iter(update.type.shape)
    sizes = tuple(1 if axis in lacking else next(extents) for axis in range(rank))
    for axis, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        _check_axis(p, node, axis, offset, size, dst.type.shape[axis])
    with p.located(node):
        op = InsertSlice(sizes, tuple("clip" if isinstance(o, Window) else "error" for o in offsets))
    return p.call(node, op, (dst, update, Tuple(tuple(as_index(o) for o in offsets))))


def _tensor(p: Parser, node: ast.AST, name: str, where: ast.AST, value: object) -> Expr:
    if not isinstance(value, Expr) or not isinstance(value.type, TensorType) or is_index(value):
        p.refuse(
            where,
            f"insert_slice: '{name}' must be a tensor, got {describe(value)}",
            "write out = tf.insert_slice(out, update, offsets)",
        )
    return value


def _check_axis(p: Parser, node: ast.AST, axis: int, offset: object, size: Index, extent: Index) -> None:
    if isinstance(offset, Window):
        if not dim_equal(size, offset.size):
            p.refuse(
                node,
                f"insert_slice: axis {axis}: the tile window has {offset.size} elements, the update {size}",
                remedy="update exactly one window",
            )
    elif isinstance(offset, int) and isinstance(size, int) and isinstance(extent, int) and offset + size > extent:
        p.refuse(
            node,
            f"insert_slice: axis {axis}: [{offset}, {offset + size}) is out of bounds for extent {extent}",
            "move the offset, or insert a smaller update",
        )
    elif isinstance(offset, int) and offset < 0:
        p.refuse(node, f"insert_slice: axis {axis}: offset {offset} is negative", "count from the start")
