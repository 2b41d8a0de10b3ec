"""CacheUpdate: positions of a cache replaced, from a position that is known when the program runs."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import CacheUpdate
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.updates import check_columns, refuse_intermediate
from tilefoundry.passes.lower.index.windows import emit_on_windows, memory_operand, of_tile
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.values import Value, Window


@lowers(CacheUpdate)
def lower_cache_update(ctx: Lowering, call: Call) -> Value:
    storage = tensor_type(call).storage
    if storage is StorageKind.SMEM:
        result = ctx.result(call, "updated")
        write_cache_update(ctx, call, of_tile(result), False)
        return result
    if storage is not StorageKind.RMEM:
        refuse_intermediate(ctx, call)
    cache, position, count, new = call.args
    assert isinstance(cache, Expr) and isinstance(new, Expr)
    before, fresh = ctx.fragment(cache, call), ctx.fragment(new, call)
    check_columns(ctx, call, (("cache", before), ("new", fresh)), 1)
    result = ctx.result(call, "updated")
    ctx.emit(tir.Copy(), before, result)
    ctx.emit(tir.PositionUpdate(), ctx.scalar(position), ctx.scalar(count), fresh, result)
    return result


@writes(CacheUpdate)
def write_cache_update(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    cache, position, count, new = call.args
    assert isinstance(cache, Expr) and isinstance(new, Expr)
    windows = [memory_operand(ctx, call, "cache", cache), memory_operand(ctx, call, "new", new), out]
    op = tir.CacheUpdate(tuple(w.kept for w in windows), everywhere)
    emit_on_windows(ctx, op, windows, ctx.scalar(position), ctx.scalar(count))
