"""Concat: parts written one after the other, where each instance, or each tile, holds the whole axis."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Concat
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.empty import is_empty
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.shape.join import joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.values import Join, Value, Window


@lowers(Concat)
def lower_concat(ctx: Lowering, call: Call) -> Value:
    return joined(ctx, call, _join(ctx, call))


@writes(Concat)
def write_concat(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, _join(ctx, call), out, everywhere)


def _join(ctx: Lowering, call: Call) -> Join:
    assert isinstance(call.target, Concat)
    axis = normalize_axis(call.target.axis, tensor_type(call).rank)
    parts: list[Value] = []
    sizes: list[ShapeDim] = []
    for x in call.args:
        assert isinstance(x, Expr)
        if is_empty(x):
            continue
        gmem = tensor_type(x).storage is StorageKind.GMEM
        parts.append((whole(ctx, x) if gmem else None) or ctx.lower(x))
        sizes.append(tensor_type(x).shape[axis])
    return Join(axis, tuple(parts), tuple(sizes))
