"""Reshape: a view of a fragment or a shared tile; a value that lies nowhere yet is placed under its former extents."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.hir.shape.reshape import view_strides
from tilefoundry.ir.shard import Layout, c_order_strides, row_major
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, joined, write_parts
from tilefoundry.passes.lower.shape.regroup import Span, keeps_axes, regrouped
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import factored, repeated
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Product, Ramp, Reshaped, Uniform, Value, Window


@lowers(Reshape)
def lower_reshape(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    value = whole(ctx, x) or ctx.lower(x)
    shape, own = tensor_type(call).shape, tensor_type(x).shape
    match value:
        case Uniform():
            return value
        case Ramp():
            long_axes = [axis for axis, extent in enumerate(shape) if extent != 1]
            if len(long_axes) <= 1:
                return value.along(long_axes[0] if long_axes else 0)
            return Reshaped(value, own)
        case Window() if own and not shape:
            return ctx.bind("element", tir.Element(), (value.tensor, *value.starts), tensor_type(call))
        case Window():
            if own == shape:
                return value
            axes = _axes_of(own, shape)
            if axes is not None:
                return repeated(ctx, value, shape, axes)
            return _split(ctx, value, shape) or Reshaped(value, own)
        case Reshaped(inner, former):
            return Reshaped(inner, former)
        case Join():
            return value if own == shape else Reshaped(value, own)
        case Deferred() | Chosen() if is_unplaced(call):
            return deferred(call)
        case Expr() if not tensor_type(value).shape:  # the number that every element is
            return joined(ctx, call, value) if shape else value
        case Var() if own and not shape:
            return _scalar(ctx, call, value)
        case Var() if own and tensor_type(value).storage is StorageKind.SMEM:
            return _tile(ctx, call, value)
        case Var() if own and tensor_type(value).storage is StorageKind.RMEM:
            return ctx.view(value, tensor_type(Call(call.target, (value,), metadata=call.metadata)))
    held = "its product" if isinstance(value, Product) else ctx.describe(value)
    ctx.refuse(
        call,
        f"cannot compile the reshape of {held} to {shape}",
        remedy="place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
    )


@computes_tiles(Reshape)
def reshape_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    x = operand(call)
    own, shape = tensor_type(x).shape, tensor_type(call).shape
    cut = [Span(*span) for span in zip(tile.starts, tile.steps, tile.sizes, tile.modes, strict=True)]
    spans = regrouped(own, shape, cut) if own else []
    if spans is None:
        p.refuse(
            f"the elements of a tile of {tile.sizes} under the extents ({', '.join(map(format_dim, shape))}) are no "
            f"window of the value before it is reshaped, of extents ({', '.join(map(format_dim, own))})",
            "take whole axes, or windows that divide the axes of both shapes",
        )
    if not spans:
        return tile.filled(p, tile.matching(p, x))
    starts, sizes = [span.start for span in spans], [span.size for span in spans]
    return tile.placed(p, window(p, x, starts, sizes, ()), *(span.modes for span in spans))


def _fuses_reshape(call: Call, _: int) -> bool:
    """Where axes are split or merged, only some windows of the one shape are windows of the other."""
    return keeps_axes(tensor_type(operand(call)).shape, tensor_type(call).shape)


fuses(Reshape, _fuses_reshape)


@writes(Reshape)
def write_reshape(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, ctx.lower(call), out, everywhere)


def _scalar(ctx: Lowering, call: Call, value: Var) -> Value:
    """The only element of a fragment or of a tile."""
    type_ = tensor_type(value)
    at = () if type_.storage is StorageKind.RMEM else (0,) * type_.rank
    return ctx.bind("element", tir.Element(), (value, *at), TensorType.umat_scalar(type_.dtype))


def _tile(ctx: Lowering, call: Call, tile: Var) -> Value:
    """A view of a shared tile; where padding between its rows allows none, of a copy without padding."""
    type_ = tensor_type(tile)
    assert isinstance(type_.layout, Layout)
    shape = tensor_type(call).shape
    strides = view_strides(type_.layout, shape)
    if strides is None:
        dense = TensorType(type_.shape, type_.dtype, row_major(type_.shape), type_.storage)
        copy = ctx.alloc(call_hint(call), dense)
        ctx.emit(tir.WholeCopy(), tile, copy)
        tile, strides = copy, c_order_strides(shape)
    return ctx.view(tile, TensorType(shape, type_.dtype, Layout(shape, strides), type_.storage))


def _split(ctx: Lowering, window: Window, shape: tuple[ShapeDim, ...]) -> Window | None:
    """A whole tensor with its axes in factors; None for windows, and for other extents."""
    extents = tensor_type(window.tensor).shape
    cut = any(
        start != 0 or not dim_equal(size, extent)
        for start, size, extent in zip(window.starts, window.sizes, extents, strict=True)
    )
    return None if cut or window.drop else factored(ctx, window.tensor, shape)


def _axes_of(own: tuple[ShapeDim, ...], shape: tuple[ShapeDim, ...]) -> tuple[int | None, ...] | None:
    """For each new axis the former one, None for one of extent 1 that comes; None where more than such axes change."""
    source: list[int | None] = []
    left = [axis for axis, extent in enumerate(own) if extent != 1]
    for extent in shape:
        if extent == 1:
            source.append(None)
        elif left and dim_equal(own[left[0]], extent):
            source.append(left.pop(0))
        else:
            return None
    return None if left else tuple(source)
