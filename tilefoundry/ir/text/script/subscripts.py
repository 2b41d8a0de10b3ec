"""Windows: ``x[i, 4:, 0]`` and ``tf.insert_slice(x, update, (i, 0))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple
from tilefoundry.ir.dims import DimVar, ceildiv, dim_add, dim_atoms, dim_equal, dim_mul, dim_sub
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import InsertSlice, Slice
from tilefoundry.ir.text.script.analysis import index_vars, is_index_value, moves_by_one
from tilefoundry.ir.text.script.expressions import SUM
from tilefoundry.ir.types import IntegerDType, TensorType

if TYPE_CHECKING:
    from tilefoundry.ir.text.script.function_expressions import FunctionExpressions


def subscript(p: FunctionExpressions, op: Slice, call: Call) -> str | None:
    """``x[...]``, or None where no subscript means this window."""
    x, starts = call.args
    if isinstance(x, (int, Constant)) or not isinstance(starts, Tuple) or not isinstance(x.type, TensorType):
        return None
    if not op.sizes:
        return None
    parts: list[str] = []
    for axis, (start, size) in enumerate(zip(starts.elements, op.sizes, strict=True)):
        part = _axis(p, op, axis, start, size, x.type.shape[axis])
        if part is None:
            return None
        parts.append(part)
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    return f"{p.operands((x,), least=5)[0]}[{', '.join(parts)}]"


def _axis(p: FunctionExpressions, op: Slice, axis: int, start: Dim, size: Dim, extent: Dim) -> str | None:
    if not (isinstance(start, int) or is_index_value(start)):
        return _from_scalar(p, op, axis, start, size)
    stride = op.strides[axis]
    if op.boundary[axis] != "error":
        return window(p, start, size) if stride == 1 and axis not in op.drop else None
    if axis in op.drop:
        return p.number(start) if stride == 1 else None
    stop = dim_add(start, dim_mul(size, stride))
    if isinstance(start, int) and isinstance(size, int) and size:
        stop = start + (size - 1) * stride + 1
    if not isinstance(size, int) and not all(isinstance(a, DimVar) for a in dim_atoms(size)):
        return None
    # any stop in the last step gives the same size; the end of the axis is the one that authors leave out
    to_end = dim_equal(ceildiv(dim_sub(extent, start), stride), size)
    is_stop = not (isinstance(stop, int) and stop < 0) and dim_equal(ceildiv(dim_sub(stop, start), stride), size)
    if not (to_end or is_stop):
        return None
    head = "" if start == 0 else p.number(start)
    tail = "" if to_end else p.number(stop)
    return f"{head}:{tail}" if stride == 1 else f"{head}:{tail}:{stride}"


def _from_scalar(p: FunctionExpressions, op: Slice, axis: int, start: Expr, size: Dim) -> str | None:
    """``i:i + 2``, where `i` is a scalar that the program is given or computes."""
    stride, type_ = op.strides[axis], start.type
    if isinstance(start, Constant) or op.boundary[axis] != "error" or axis in op.drop or not isinstance(size, int):
        return None
    assert isinstance(type_, TensorType) and isinstance(type_.dtype, IntegerDType)
    if size * stride > type_.dtype.range[1]:
        return None  # the length is a literal of the scalar's dtype
    text = p.operands((start,), least=SUM)[0]
    tail = f"{text}:{text} + {size * stride}"
    return tail if stride == 1 else f"{tail}:{stride}"


def window(p: FunctionExpressions, start: Dim, size: Dim) -> str | None:
    """``i`` or ``i + 4``, where `i` is the variable of a ``tile`` loop with this step; None if there is none."""
    for var in index_vars(start):
        block = next((b for b in p.names.blocks if b.variable is var), None)
        if block is None or block.step != size or var not in p.analysis.tiles or not moves_by_one(start, var):
            continue
        name, by = p.names.spelling(var), dim_sub(start, var)
        if by == 0:
            return name
        if isinstance(by, int):
            return f"{name} - {-by}" if by < 0 else f"{name} + {by}"
        return f"{name} + ({p.number(by)})"
    return None


def inserted(p: FunctionExpressions, op: InsertSlice, call: Call) -> str:
    """``tf.insert_slice(dst, update, offsets)``.

    Raises:
        ExtractError: the front end would write another window.
    """
    dst, update, offsets = call.args
    assert isinstance(offsets, Tuple)
    if not (isinstance(dst, Expr) and isinstance(update, Expr) and isinstance(update.type, TensorType)):
        raise ExtractError("insert_slice of what is no tensor has no spelling", remedy="insert a tensor")
    texts: list[str | None] = []
    for offset, size, boundary in zip(offsets.elements, op.sizes, op.boundary, strict=True):
        if boundary != "error":
            texts.append(window(p, offset, size))
        elif isinstance(offset, int) or is_index_value(offset):
            texts.append(p.number(offset))
        else:  # a scalar that the program is given or computes; one that is written has no place of its own
            texts.append(None if isinstance(offset, Constant) else p.operands((offset,))[0])
    rank, update_rank = len(op.sizes), len(update.type.shape)
    whole = [axis for axis, boundary in enumerate(op.boundary) if boundary == "error"]
    lacking = whole[: rank - update_rank]
    extents = iter(update.type.shape)
    sizes = [1 if axis in lacking else next(extents, None) for axis in range(rank)]
    same = all(a is not None and dim_equal(a, b) for a, b in zip(sizes, op.sizes, strict=True))
    if any(isinstance(e, Constant) or is_index_value(e) for e in (dst, update)) or None in texts or not same:
        raise ExtractError(
            f"no insert_slice in a program writes the window of sizes {op.sizes} with boundary {op.boundary}",
            remedy="an axis that may overhang is indexed by the variable of a tile loop with its size as step",
        )
    where = f"({', '.join(map(str, texts))}{',' if rank == 1 else ''})"
    return f"{p.values.names.dsl('tf')}.insert_slice({', '.join(p.operands((dst, update)))}, {where})"
