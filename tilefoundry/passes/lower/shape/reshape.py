"""Reshape: a view of a fragment or a shared tile; a value that lies nowhere yet is placed under its former extents."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.hir.shape.reshape import view_strides
from tilefoundry.ir.shard import Layout, c_order_strides, row_major
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import repeated
from tilefoundry.passes.lower.values import Join, Product, Ramp, Reshaped, Uniform, Value, Window


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
        case Window():
            if own == shape:
                return value
            axes = _axes_of(own, shape)
            return Reshaped(value, own) if axes is None else repeated(ctx, value, shape, axes)
        case Reshaped(inner, former):
            return Reshaped(inner, former)
        case Join():
            return value if own == shape else Reshaped(value, own)
        case Var() if own and not shape:
            return _scalar(ctx, call, value)
        case Var() if own and tensor_type(value).storage is StorageKind.SMEM:
            return _tile(ctx, call, value)
        case Var() if own and tensor_type(value).storage is StorageKind.RMEM:
            return ctx.view(value, tensor_type(Call(call.target, (value,), metadata=call.metadata)))
        case Expr() if not own:
            return joined(ctx, call, value) if shape else value
    held = "its product" if isinstance(value, Product) else ctx.describe(value)
    ctx.refuse(
        call,
        f"cannot compile the reshape of {held} to {shape}",
        remedy="place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
    )


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
