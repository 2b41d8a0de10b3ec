"""Reads and writes at run-time indices as calls of the runtime's ops on windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefoundry.codegen.types import int_text
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.tir.ops.index import WindowOp

if TYPE_CHECKING:
    from tilefoundry.codegen.body import Body

Args = tuple[Expr, ...]


def gather_text(body: Body, op: tir.Gather, args: Args) -> str:
    """``ops::gather(src, index, dst, axis[, share])``."""
    operands = windows_text(body, op, args)
    if op.kept[2]:
        operands.append(share_text(op))
    return f"ops::gather({', '.join([*operands[:3], _axis(op.axis), *operands[3:]])});"


def index_update_text(body: Body, op: tir.IndexUpdate, args: Args) -> str:
    """``ops::index_add(dst, index, src, out, axis, share)``, or ``index_copy``."""
    operands = [*windows_text(body, op, args), _axis(op.axis), share_text(op)]
    return f"ops::{'index_add' if op.add else 'index_copy'}({', '.join(operands)});"


def row_update_text(body: Body, op: tir.RowUpdate, args: Args) -> str:
    """``ops::index_add(index, src, dst, axis)``, or ``index_copy``."""
    operands = [*map(body.tensor, args), _axis(op.axis)]
    return f"ops::{'index_add' if op.add else 'index_copy'}({', '.join(operands)});"


def cache_update_text(body: Body, op: tir.CacheUpdate, args: Args) -> str:
    """``ops::cache_update(cache, position, count, new, out, share)``."""
    cache, new, out = windows_text(body, op, args)
    position, count = (f"static_cast<int64_t>({body.scalar(arg)})" for arg in args[9:])
    return f"ops::cache_update({cache}, {position}, {count}, {new}, {out}, {share_text(op)});"


def position_update_text(body: Body, op: tir.PositionUpdate, args: Args) -> str:
    """``ops::cache_update(position, count, new, dst)``."""
    position, count = (f"static_cast<int64_t>({body.scalar(arg)})" for arg in args[:2])
    return f"ops::cache_update({position}, {count}, {body.tensor(args[2])}, {body.tensor(args[3])});"


def windows_text(body: Body, op: WindowOp, args: Args) -> list[str]:
    """Windows, or names of fragments."""
    found = []
    for kept, (x, starts, extents) in zip(op.kept, op.windows(args), strict=True):
        if not kept:
            found.append(body.tensor(x))
            continue
        axes = f"Axes<{', '.join(map(str, kept))}>"
        found.append(f"make_window<{axes}>({body.tensor(x)}, {_coordinate(body, starts)}, {_shape(body, extents)})")
    return found


def _coordinate(body: Body, starts: Tuple) -> str:
    return f"make_coord({', '.join(body.scalar(start) for start in starts.elements)})"


def _shape(body: Body, extents: Tuple) -> str:
    """Extents, static where they are numbers."""
    shape = (f"{int_text(e)}{{}}" if isinstance(e, int) else body.scalar(e) for e in extents.elements)
    return f"make_shape({', '.join(shape)})"


def _axis(axis: int) -> str:
    return f"{int_text(axis)}{{}}"


def share_text(op: WindowOp) -> str:
    """Which instances divide the work."""
    return "share_of_grid()" if op.everywhere else "share_of_cta()"
