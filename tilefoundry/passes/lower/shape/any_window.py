"""Windows of registers that start where the kernel says when it runs.

Registers are addressed by constants, so each place where the window may start is asked for, one after the other: for
short axes, along which few places are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.shard import ShardLayout, shard_layout_local_shape
from tilefoundry.ir.types import ShapeDim
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.shape.windows import fresh_type, part
from tilefoundry.passes.lower.values import Scalar, Value

MOST = 1024  # elements that an instance chooses among, all of them unrolled


def read_anywhere(
    ctx: Lowering,
    call: Call,
    fragment: Var,
    starts: Sequence[Scalar],
    sizes: Sequence[ShapeDim],
    steps: Sequence[int],
    drop: Sequence[int],
) -> Var:
    """A window of a fragment as registers of its own."""
    spans = [(n - 1) * s + 1 for n, s in zip(_static(ctx, call, sizes, starts), steps, strict=True)]
    result: Var | None = None
    for here, at in _places(ctx, call, fragment, starts, spans, math.prod(_static(ctx, call, sizes, starts))):
        window = part(ctx, call, fragment, at, sizes, steps, drop)
        if result is None:
            result = ctx.alloc("window", fresh_type(tensor_type(window)))
            ctx.emit(tir.Copy(), window, result)
        else:
            ctx.emit(tir.Where(), here, ctx.broadcast(call, window, tensor_type(result)), result, result)
    assert result is not None  # a window that fits has a place
    return result


def write_anywhere(
    ctx: Lowering,
    call: Call,
    result: Var,
    starts: Sequence[Scalar],
    sizes: Sequence[ShapeDim],
    drop: Sequence[int],
    update: Value,
) -> None:
    """Emits what gives a window of a fragment another value."""
    from tilefoundry.passes.lower.shape.place import write

    extents = _static(ctx, call, sizes, starts)
    piece: Var | None = None
    for here, at in _places(ctx, call, result, starts, extents, math.prod(extents)):
        window = part(ctx, call, result, at, sizes, (1,) * len(sizes), drop)
        if piece is None:
            piece = ctx.alloc("piece", fresh_type(tensor_type(window)))
            write(ctx, call, update, piece)
        ctx.emit(tir.Where(), here, ctx.broadcast(call, piece, tensor_type(window)), window, window)


def _places(
    ctx: Lowering, call: Call, whole: Var, starts: Sequence[Scalar], spans: Sequence[int], elements: int
) -> Iterator[tuple[Expr, tuple[int, ...]]]:
    """The places where a window may start, each with whether it does."""
    type_ = tensor_type(whole)
    assert isinstance(type_.layout, ShardLayout)  # of a fragment
    extents = _static(ctx, call, type_.shape, starts)
    options = [
        (start,) if isinstance(start, int) else range(extent - span + 1)
        for start, span, extent in zip(starts, spans, extents, strict=True)
    ]
    share = math.prod(extents) // math.prod(e for e in shard_layout_local_shape(type_.layout) if isinstance(e, int))
    if math.prod(map(len, options)) * max(1, elements // share) > MOST:
        refuse_start(ctx, call, starts)
    named = [start if isinstance(start, int) else ctx.named("start", start) for start in starts]
    for at in itertools.product(*options):
        yield _is_at(named, at), at


def _is_at(starts: Sequence[Scalar], at: Sequence[int]) -> Expr:
    tests = [
        Call(Binary(BinaryKind.EQ), (start, Constant(place, INDEX_TYPE)))
        for start, place in zip(starts, at, strict=True)
        if isinstance(start, Expr)
    ]
    here = tests[0]
    for test in tests[1:]:
        here = Call(Binary(BinaryKind.AND), (here, test))
    return here


def _static(ctx: Lowering, call: Call, extents: Sequence[ShapeDim], starts: Sequence[Scalar]) -> list[int]:
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) != len(extents):
        refuse_start(ctx, call, starts)
    return known


def refuse_start(ctx: Lowering, call: Call, starts: Sequence[Scalar]) -> NoReturn:
    """Refuses a window of registers that may start at too many places."""
    ctx.refuse(
        call,
        f"registers are indexed by numbers that are known when the program is compiled, got "
        f"({', '.join(map(format_dim, starts))}): at most {MOST} elements are chosen among",
        remedy="stage the value in shared memory: tf.reshard(x, <shape of the tile>, 'smem')",
    )
