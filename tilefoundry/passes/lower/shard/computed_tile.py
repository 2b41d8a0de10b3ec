"""Shared tiles of values that are computed: all threads of the CTA compute them in registers first."""

from __future__ import annotations

import math
from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_add, dim_sub
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.shard import Layout, Mesh, Topology
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import deferred
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.fragments import Mode, Modes, spread_over
from tilefoundry.passes.lower.matrix.operands import ramp_along, zero_beyond
from tilefoundry.passes.lower.values import Deferred


def computed(ctx: Lowering, call: Call, source: Expr, value: Deferred) -> Var:
    """The window in registers, zero where it hangs over the extents of the value, to be stored in shared memory."""
    p, type_ = Primitives(call), tensor_type(call)
    shape = tuple(extent for extent in type_.shape if isinstance(extent, int))
    mesh, modes = shared_out(_threads(ctx, call), shape, type_.dtype.bits)
    x: Expr = p.call(Reshard(spread_over(mesh, *modes), StorageKind.RMEM), source)
    extents = deferred(value.call, value.part).sizes
    for axis, k in enumerate(value.kept):
        slack = dim_sub(extents[k], dim_add(value.starts[k], shape[axis]))
        if (isinstance(slack, int) and slack >= 0) or (value.ends and value.ends[k] is not None):
            continue  # nothing hangs over, or is zero as it is placed
        ramp = ramp_along(p, shape[axis], axis, len(shape))
        own = [modes[axis] if other == axis else () for other in range(len(shape))]
        placed = p.call(Reshard(spread_over(mesh, *own), StorageKind.RMEM), ramp)
        x = zero_beyond(p, x, placed, value.starts[k], extents[k])
    return ctx.fragment(x, call)


def shared_out(level: Topology, shape: tuple[int, ...], bits: int) -> tuple[Mesh, tuple[Modes, ...]]:
    """A tile over the threads of a CTA: 16 bytes of a row to each of neighbours, as far as the extents allow."""
    left = level.size
    assert isinstance(left, int)  # of a CTA
    modes: list[Modes] = []
    axes: list[int] = []  # the extents of the mesh, innermost first
    for axis in reversed(range(len(shape))):
        pack = math.gcd(shape[axis], 128 // bits) if axis == len(shape) - 1 else 1
        over = math.gcd(shape[axis] // pack, left)
        left //= over
        modes.insert(
            0, tuple(m for m in (Mode(shape[axis] // pack // over), Mode(over, len(axes)), Mode(pack)) if m.extent != 1)
        )
        axes.append(over)
    axes.append(left)  # of these each has the same part
    own = [
        tuple(replace(m, split=None if m.split is None else len(axes) - 1 - m.split) for m in axis) for axis in modes
    ]
    return Mesh((level,), Layout(tuple(reversed(axes)))), tuple(own)


def _threads(ctx: Lowering, call: Call) -> Topology:
    level = next((t for t in ctx.module.effective_topologies() if t.name == "thread"), None)
    if level is None or not isinstance(level.size, int):
        ctx.refuse(
            call,
            "a shared tile of a value that is computed needs the threads that compute it, and the module declares none",
            remedy='declare them: topologies=(Topology("cta", G), Topology("thread", 128))',
        )
    return level
