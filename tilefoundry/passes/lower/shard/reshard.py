"""Reshard: the op that says where a value lives; here a description becomes a tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    ShardLayout,
    c_order_strides,
    flat_modes,
    is_injective,
    row_major,
)
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import place
from tilefoundry.passes.lower.index.reads import load_chosen, write_chosen
from tilefoundry.passes.lower.index.windows import of_tile
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.shape.place import write
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shard.computed_tile import computed
from tilefoundry.passes.lower.shard.partial import completed, completed_scalar
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Product, Ramp, Reshaped, Uniform, Value, Window
from tilefoundry.passes.modes import fragment_view_type
from tilefoundry.passes.operands import is_left_operand, on_tensor_cores, operand_tile, transposed


@lowers(Reshard)
def lower_reshard(ctx: Lowering, call: Call) -> Value:
    (source,) = call.args
    assert isinstance(source, Expr)
    to = tensor_type(call)
    if not to.shape:
        if (total := completed_scalar(ctx, call, source)) is not None:
            return total
        number = ctx.lower(source)  # a scalar, which each instance knows, wherever it is said to lie
        if isinstance(number, Deferred) and isinstance(to.layout, ShardLayout):
            return place(ctx, call, number, to)
        return number
    value = completed(ctx, call, source) or whole(ctx, source) or ctx.lower(source)
    if to.storage is StorageKind.RMEM:
        return _to_registers(ctx, call, source, value, ctx.held_type(to))
    if to.storage is StorageKind.SMEM:
        return _to_shared(ctx, call, source, value, to)
    if to.storage is StorageKind.GMEM and not _is_held(value):
        return value  # of global tensors, and nothing has placed it yet
    ctx.refuse(
        call,
        f"a reshard to {to.storage} can be compiled as the result of a function, not as an intermediate value",
        remedy="return it, or keep the value in 'smem' or 'rmem'",
    )


def _is_held(value: Value) -> bool:
    """Whether registers or shared memory hold a value."""
    match value:
        case Var():
            return tensor_type(value).storage is not StorageKind.GMEM
        case Product():
            return True
        case Join(parts=parts):
            return any(map(_is_held, parts))
        case Reshaped(value=inner):
            return _is_held(inner)
    return False


def _to_registers(ctx: Lowering, call: Call, source: Expr, value: Value, to: TensorType) -> Value:
    if isinstance(value, Var) and value.type == to:
        return value
    if isinstance(value, Deferred):
        return place(ctx, call, value, to)
    if isinstance(value, Window):
        return _loaded(ctx, call, value, to)
    dst = ctx.result(call, "fragment")
    match value:
        case Product(lhs, rhs):
            _multiply(ctx, lhs, rhs, dst)
        case Chosen():
            load_chosen(ctx, call, value, dst)
        case _:
            write(ctx, call, value, dst)
    return dst


def _loaded(ctx: Lowering, call: Call, value: Window, to: TensorType) -> Value:
    """A window of a global tensor: once, before the loops that have no part in it."""
    key = (value, to)
    if (known := ctx.placed(key)) is not None:
        return known
    with ctx.before_loops(value.tensor, *value.starts):
        dst = ctx.alloc(binding_name(call) or "fragment", to)
        write(ctx, call, value, dst)
        ctx.remember_placed(key, dst)
    return dst


def _multiply(ctx: Lowering, lhs: Var, rhs: Var, dst: Var) -> None:
    """A product of 16-bit floats is accumulated in f32, and rounded once if its own type is narrower."""
    type_ = tensor_type(dst)
    narrow = type_.dtype.is_float and type_.dtype.bits < 32
    acc = ctx.alloc("acc", replace(type_, dtype=DType.f32)) if narrow else dst
    ctx.emit(tir.Fill(0), acc)
    add_matrix_product(ctx, lhs, rhs, acc)
    if narrow:
        ctx.emit(tir.Cast(), acc, dst)


def add_matrix_product(ctx: Lowering, lhs: Var, rhs: Var, acc: Var) -> None:
    """Emits ``acc += lhs @ rhs``; a left operand in registers that tensor cores do not take as it lies is staged."""
    if tensor_type(lhs).storage is StorageKind.RMEM and not is_left_operand(tensor_type(lhs), tensor_type(acc)):
        lhs = _staged(ctx, lhs)
    ctx.emit(tir.Mma(), acc, lhs, rhs)


def _to_shared(ctx: Lowering, call: Call, source: Expr, value: Value, to: TensorType) -> Value:
    if isinstance(to.layout, ShardLayout) or not all(isinstance(extent, int) for extent in to.shape):
        ctx.refuse(
            call,
            f"a shared tile belongs to the whole CTA and has static extents, got {to.layout} over {to}",
            remedy="name no mesh axis in the layout of an 'smem' value: tf.reshard(x, (64, 64), 'smem')",
        )
    if ctx.own.of(source) and not ctx.uses.is_authored(call):
        ctx.refuse(
            call,
            "threads exchange elements of this value in shared memory, and each has a value of its own",
            remedy="let them agree on the operand: tf.reshard it over the mesh, or to 'smem'",
        )
    tile_type = _stored(ctx, call, to)
    if isinstance(value, Deferred):
        value = computed(ctx, call, source, value)
    match value:
        case Window():
            dst = ctx.alloc(_hint(call), _operand_form(ctx, call, to, tile_type) or tile_type)
            write(ctx, call, value, dst)
            return dst
        case Chosen():
            dst = ctx.alloc(_hint(call), tile_type)
            write_chosen(ctx, value, of_tile(dst))
            return dst
        case Var() if tensor_type(value).storage is StorageKind.RMEM:
            view_type = fragment_view_type(tile_type, tensor_type(value))
            if view_type is None:
                _refuse_pair(ctx, call, tensor_type(value), to)
            kept = ctx.tensor_cores and on_tensor_cores(to) and tile_type != to and isinstance(source, Call)
            if kept and ctx.uses.only_left_operand(call):
                return value  # the product takes it from registers, or stages it
            dst = ctx.alloc(_hint(call), tile_type)
            ctx.emit(tir.Copy(), value, ctx.view(dst, view_type))
            return dst
        case Var() if tensor_type(value).shape:
            return value
        case Uniform() | Ramp() | Join() | Expr():
            dst = ctx.alloc(_hint(call), tile_type)
            write(ctx, call, value, dst)
            return dst
        case Reshaped():
            dst = ctx.alloc(_hint(call), to)  # rows without padding: other extents step through them too
            write(ctx, call, value, dst)
            return dst
    ctx.refuse(
        call,
        f"cannot stage {ctx.describe(value)} in shared memory",
        remedy="place it in registers first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
    )


def _operand_form(ctx: Lowering, call: Call, to: TensorType, tile_type: TensorType) -> TensorType | None:
    """How a tile lies that tensor cores alone read; None for other tiles, and where its author gave it strides."""
    if not ctx.tensor_cores or not ctx.uses.only_products(call):
        return None
    if tile_type != to:
        return operand_tile(to)
    if not ctx.uses.only_instructions(call):
        return None
    # The strides that an instruction asks for say which axis is innermost: the rows of its form.
    assert isinstance(to.layout, Layout)
    turned = operand_tile(replace(to, shape=to.shape[::-1], layout=row_major(to.shape[::-1])))
    if turned is None or to.layout.strides != (1, to.shape[0]):
        return None
    assert isinstance(turned.layout, ComposedLayout)
    return replace(to, layout=transposed(turned.layout, (1, 0)))


def _staged(ctx: Lowering, fragment: Var) -> Var:
    """A left operand that was kept in registers, in a shared tile after all."""
    type_ = tensor_type(fragment)
    tile_type = padded(TensorType(type_.shape, type_.dtype, row_major(type_.shape), StorageKind.SMEM))
    view_type = fragment_view_type(tile_type, type_)
    assert view_type is not None  # checked when it was kept
    tile = ctx.alloc(f"{fragment.name}_tile", tile_type)
    ctx.emit(tir.Copy(), fragment, ctx.view(tile, view_type))
    return tile


def _stored(ctx: Lowering, call: Call, to: TensorType) -> TensorType:
    """How a tile lies in shared memory: padded, unless its author gave it strides of their own."""
    assert isinstance(to.layout, Layout)
    strides = tuple(stride for _, stride in flat_modes(to.layout))
    if strides == c_order_strides(to.shape):
        return padded(to)
    if not is_injective(to.layout) or any(not isinstance(stride, int) or stride < 0 for stride in strides):
        ctx.refuse(
            call,
            f"the layout {to.layout} puts two elements in one place, or steps backwards",
            remedy="give strides that keep all elements apart, or none",
        )
    return to


def padded(type_: TensorType, row_padding_bytes: int = 16) -> TensorType:
    """The tile as it lies in shared memory: rows 16-byte aligned and padded, so that a column meets different banks."""
    per_chunk = row_padding_bytes * 8 // type_.dtype.storage_bits
    strides: list[ShapeDim] = []
    step = 1
    for position, extent in enumerate(reversed(type_.shape)):
        strides.append(step)
        assert isinstance(extent, int)  # checked by the caller
        step *= extent
        if position == 0 and len(type_.shape) > 1:
            step = -(-step // per_chunk) * per_chunk + per_chunk
    return TensorType(type_.shape, type_.dtype, Layout(type_.shape, tuple(reversed(strides))), type_.storage)


def _hint(call: Call) -> str:
    return binding_name(call) or "tile"


def _refuse_pair(ctx: Lowering, call: Call, source: TensorType, to: TensorType) -> NoReturn:
    ctx.refuse(
        call,
        f"cannot move {source.layout} in {source.storage} to {to.layout} in {to.storage} directly",
        remedy="go through shared memory: tf.reshard(x, <shape of the tile>, 'smem')",
    )
