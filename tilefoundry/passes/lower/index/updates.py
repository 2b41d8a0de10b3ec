"""What IndexAdd, IndexCopy and ScatterAdd share: a copy of a tensor with elements of another written at indices.

Of global tensors, the update is written where the result goes (`write_update`). Of shared tiles it is a shared tile. Of
fragments each instance updates the whole columns that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_product
from tilefoundry.ir.shard import ShardLayout, group_modes, shard_layout_local_shape
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.windows import emit_on_windows, index_fragment, memory_operand, of_tile
from tilefoundry.passes.lower.values import Value, Window

MOST = 4096  # comparisons that an instance makes, all of them unrolled


def updated(ctx: Lowering, call: Call, axis: int, *, add: bool) -> Value:
    """The value of an op that writes ``src`` at ``index`` into ``dst``."""
    storage = tensor_type(call).storage
    if storage is StorageKind.SMEM:
        result = ctx.result(call, "updated")
        write_update(ctx, call, of_tile(result), axis, add=add, everywhere=False)
        return result
    if storage is not StorageKind.RMEM:
        refuse_intermediate(ctx, call)
    dst, index, src = call.args
    assert isinstance(dst, Expr) and isinstance(index, Expr) and isinstance(src, Expr)
    before, update = ctx.fragment(dst, call), ctx.fragment(src, call)
    at = index_fragment(ctx, call, index, tensor_type(before))
    columns = (("dst", before), ("src", update))
    if tensor_type(at).rank != tensor_type(update).rank:
        check_columns(ctx, call, columns, axis)
    elif tensor_type(at).shape != tensor_type(update).shape:
        ctx.refuse(
            call,
            f"'index' has the extents {tensor_type(at).shape} and 'src' {tensor_type(update).shape}: of fragments, "
            "each element of 'src' has an index",
            remedy="slice 'src' before it is placed, or stage the operands: tf.reshard(x, <shape of the tile>, 'smem')",
        )
    else:
        check_columns(ctx, call, (*columns, ("index", at)), axis)
    result = ctx.result(call, "updated")
    ctx.emit(tir.Copy(), before, result)
    ctx.emit(tir.RowUpdate(axis, add), at, update, result)
    return result


def write_update(ctx: Lowering, call: Call, out: Window, axis: int, *, add: bool, everywhere: bool) -> None:
    """Emits what writes the updated copy into memory."""
    operands = zip(("dst", "index", "src"), call.args, strict=True)
    windows = [memory_operand(ctx, call, name, x) for name, x in operands if isinstance(x, Expr)]
    windows.append(out)
    emit_on_windows(ctx, tir.IndexUpdate(tuple(w.kept for w in windows), everywhere, axis, add), windows)


def refuse_intermediate(ctx: Lowering, call: Call) -> NoReturn:
    """Refuses a global tensor that is neither a result nor written into one."""
    name = getattr(call.target, "op_name", "")
    ctx.refuse(
        call,
        f"tf.{name} of global tensors can be compiled where its value is a result of the function or is inserted into "
        "one, not as an intermediate value",
        remedy="return it, write out = tf.insert_slice(out, <it>, offsets), or stage the operands in 'smem' or 'rmem'",
    )


def check_columns(ctx: Lowering, call: Call, fragments: Sequence[tuple[str, Var]], axis: int) -> None:
    """Refuses fragments whose columns along an axis differ, and updates that take too many comparisons."""
    (first, held), *others = fragments
    columns = _columns(tensor_type(held), axis)
    for name, other in others:
        if _columns(tensor_type(other), axis) != columns:
            ctx.refuse(
                call,
                f"'{first}' is laid out as {tensor_type(held).layout} and '{name}' as {tensor_type(other).layout}: "
                f"instances would hold different columns along axis {axis}",
                remedy="give both the same factors on the other axes, or stage them in 'smem'",
            )
    layout = tensor_type(others[0][1]).layout
    assert isinstance(layout, ShardLayout)  # of a fragment
    cost = dim_product((tensor_type(held).shape[axis], *shard_layout_local_shape(layout)))
    if not isinstance(cost, int) or cost > MOST:
        ctx.refuse(
            call,
            f"each instance would compare {cost} pairs of rows, and at most {MOST} are compiled: registers have no "
            "run-time index",
            remedy="stage the operands: tf.reshard(x, <shape of the tile>, 'smem')",
        )


def _columns(type_: TensorType, axis: int) -> list[tuple[object, ...]] | None:
    """The factors of all axes but one, each with the mesh axes that split it."""
    assert isinstance(type_.layout, ShardLayout)  # of a fragment
    groups = group_modes(type_.layout.shape, type_.shape)
    if groups is None:
        return None
    modes = (mode for k, group in enumerate(groups) if k != axis for mode in group)
    return [(type_.layout.shape[mode], *type_.layout.splitters(mode)) for mode in modes]
