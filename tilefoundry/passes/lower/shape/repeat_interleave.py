"""RepeatInterleave: an axis more along which elements repeat, and the two counted as one."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_floordiv, dim_mul
from tilefoundry.ir.hir import BinaryKind, Expand, IndexSelect, RepeatInterleave, Reshape, Unsqueeze
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import alike
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, write_parts
from tilefoundry.passes.lower.shape.windows import fresh_type
from tilefoundry.passes.lower.tile import Tile, staged
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Scalar, Uniform, Value, Window


@lowers(RepeatInterleave)
def lower_repeat_interleave(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, RepeatInterleave)
    (x,) = call.args
    assert isinstance(x, Expr)
    shape = tensor_type(x).shape
    axis = normalize_axis(op.axis, len(shape))
    value = ctx.lower(x)
    if isinstance(value, Uniform):
        return value
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.SMEM:
        return _tile(ctx, call, value, axis, op.repeats)
    if isinstance(value, Deferred | Chosen | Join) and is_unplaced(call):
        return deferred(call)
    p = Primitives(call)
    repeated = p.call(Expand((*shape[: axis + 1], op.repeats, *shape[axis + 1 :])), p.call(Unsqueeze(axis + 1), x))
    return ctx.lower(p.call(Reshape(tensor_type(call).shape), repeated))


@computes_tiles(RepeatInterleave)
def repeat_interleave_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """What the tile repeats, in shared memory, and of it an element for each place."""
    op, x = call.target, operand(call)
    assert isinstance(op, RepeatInterleave)
    axis, repeats = normalize_axis(op.axis, len(tile.sizes)), op.repeats
    start, size, modes = tile.axis(axis)
    first = dim_floordiv(start, repeats)
    source = tile.along(axis, first, alike(modes, (size - 1) // repeats + 2))
    held = staged(p, source.read(p, x), source.sizes)
    line = Tile(0, (start,), (size,), (tile.steps[axis],), (modes,), tile.mesh)
    place = p.sub(p.binary(BinaryKind.FLOOR_DIV, line.coordinates(p, 0), repeats), _index(first))
    return tile.placed(p, p.call(IndexSelect(axis), held, staged(p, place, (size,))), *tile.modes)


def _index(start: Scalar) -> Expr:
    return Constant(start, INDEX_TYPE) if isinstance(start, int) else start


fuses(RepeatInterleave)


@writes(RepeatInterleave)
def write_repeat_interleave(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, ctx.lower(call), out, everywhere)


def _tile(ctx: Lowering, call: Call, tile: Var, axis: int, repeats: int) -> Var:
    """A tile of its own; both tiles are seen with the repeats as an axis of their own."""
    dst = ctx.alloc(call_hint(call), fresh_type(tensor_type(call)))
    if 0 not in tensor_type(dst).shape:
        ctx.emit(tir.WholeCopy(), _seen(ctx, tile, axis, repeats, source=True), _seen(ctx, dst, axis, repeats))
    return dst


def _seen(ctx: Lowering, tile: Var, axis: int, repeats: int, *, source: bool = False) -> Var:
    type_ = tensor_type(tile)
    assert isinstance(type_.layout, Layout) and type_.layout.strides is not None
    shape, strides = list(type_.shape), list(type_.layout.strides)
    extent, step = shape[axis], strides[axis]
    assert isinstance(extent, int)  # tiles are static
    shape[axis : axis + 1] = [extent, 1] if source else [extent // repeats, repeats]
    strides[axis : axis + 1] = [step, 0] if source else [dim_mul(step, repeats), step]
    return ctx.view(tile, TensorType(tuple(shape), type_.dtype, Layout(tuple(shape), tuple(strides)), type_.storage))
