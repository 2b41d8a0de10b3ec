"""Which walk a kernel takes: what its values are made of decides how tiles lie on threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_floordiv, dim_range
from tilefoundry.ir.hir import ArgMax, ArgMin, Attention, Conv2d, MatMul, Reduce, Reshape, Sort, TopK
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, ShapeDim, TensorType
from tilefoundry.passes.lower.fragments import Modes, whole
from tilefoundry.passes.lower.matrix.product_tile import product_tile
from tilefoundry.passes.lower.reduce.order import ORDERED
from tilefoundry.passes.lower.shape.regroup import Span, regrouped
from tilefoundry.passes.place.cuts import Group
from tilefoundry.passes.place.kernel import Walk, named, variables_of
from tilefoundry.passes.place.kinds import producer, tensor, whole_axes
from tilefoundry.passes.place.spread import Levels, accumulator_walk, elementwise_walk, reduction_walk, row_walk

_ROWS = 64  # of a tile of attention or of a convolution
_FEW = 4  # channels of which a thread holds some pixels


def walk_of(value: Expr, group: Group, levels: Levels) -> Walk:
    """How the tiles of a kernel's values are walked."""
    shape = tensor(value).shape
    op = producer(value)
    match heavy := _heavy(value):
        case Call(target=MatMul()):
            return _product_walk(levels, heavy, value)
        case Call(target=Attention()):
            width = shape[-1]
            assert isinstance(width, int)  # or the tile is refused
            return accumulator_walk(levels, shape, (-2, _most(shape[-2], _ROWS)), (-1, width))
        case Call(target=Conv2d()):
            return _convolution_walk(levels, heavy, shape, _dtypes(value))
    if op is not None and isinstance(op.target, (Reduce, ArgMax, ArgMin)):
        return reduction_walk(levels, shape, -1 in whole_axes(op), _dtypes(value))
    if op is not None and isinstance(op.target, (Sort, TopK)):
        return row_walk(levels, _few_rows(op, shape), group.rows, _dtypes(value))
    if op is value and isinstance(op.target, Reshape):
        return _regrouped_walk(levels, tensor(op.args[0]).shape, shape, _dtypes(value))
    if group.rows:
        return row_walk(levels, shape, group.rows, _dtypes(value))
    return elementwise_walk(levels, shape, _dtypes(value))


def _few_rows(ordered: Call, shape: Sequence[ShapeDim]) -> tuple[ShapeDim, ...]:
    """The extents, with no more rows than a CTA puts in order at once: whole rows of the operand, however few are kept.

    Args:
        shape: of the result.
    """
    (axis,) = whole_axes(ordered)
    bounds = dim_range(tensor(ordered.args[0]).shape[axis])
    longest = bounds[1] if bounds is not None else ORDERED
    left = max(1, ORDERED >> max(0, longest - 1).bit_length())
    few = list(shape)
    for k, extent in reversed([*enumerate(shape)]):
        if k - len(shape) != axis:
            rows = min(extent, left) if isinstance(extent, int) else left
            few[k], left = rows, left // max(1, rows)
    return tuple(few)


def _product_walk(levels: Levels, product: Call, value: Expr) -> Walk:
    """Tiles of a product, beside which what is fused into it holds the same tiles of other tensors."""
    rank = tensor(value).rank
    beside = [tensor(x).dtype for x in variables_of(value) if tensor(x).shape == tensor(value).shape]
    tile = product_tile(product, levels.thread_count, levels.target, beside)
    sizes = (*(1,) * (rank - 2), *tile.shape)
    modes: tuple[Modes, ...] = (*((),) * (rank - 2), tile.rows, tile.columns)
    return Walk(levels.cta_mesh, named(tile.mesh), sizes, modes)


def _convolution_walk(levels: Levels, conv: Call, shape: Sequence[ShapeDim], dtypes: Sequence[DType]) -> Walk:
    """Tiles of a convolution; with groups, of channels of one group, unless each channel is a group."""
    assert isinstance(conv.target, Conv2d)
    columns = (-1, _most(shape[-1], 16))
    walk = accumulator_walk(levels, shape, (-3, _most(shape[-3], _ROWS)), columns)
    out, taken = tensor(conv.args[1]).shape[:2]
    own = dim_floordiv(out, conv.target.groups)
    if conv.target.groups == 1 or own == taken == 1 or (isinstance(own, int) and own % walk.sizes[-3] == 0):
        return walk
    most = _ROWS if levels.thread_count == 1 else _FEW
    channels = max(d for d in range(1, most + 1) if own % d == 0) if isinstance(own, int) else 1
    if levels.thread_count == 1:
        return accumulator_walk(levels, shape, (-3, channels), columns)
    pixels = elementwise_walk(levels, (1, 1, *shape[-2:]), dtypes)  # tiles of tensor cores are wider than a group
    return replace(
        pixels, sizes=(1, channels, *pixels.sizes[2:]), modes=(pixels.modes[0], whole(channels), *pixels.modes[2:])
    )


def _regrouped_walk(
    levels: Levels, own: Sequence[ShapeDim], shape: Sequence[ShapeDim], dtypes: Sequence[DType]
) -> Walk:
    """Tiles of a reshaped value that are boxes of the value before: as large as may be."""
    ones = (1,) * (len(shape) - 1)
    inner, before = shape[-1], own[-1]
    common = math.gcd(inner, before) if isinstance(inner, int) and isinstance(before, int) else 1
    for extents in (shape, (*ones, inner), (*ones, common)):
        walk = elementwise_walk(levels, extents, dtypes)
        window = [
            Span(0, 0, size, modes) if size == extent else Span(Var("i", INDEX_TYPE), size, size, modes)
            for size, modes, extent in zip(walk.sizes, walk.modes, shape, strict=True)
        ]
        if regrouped(own, shape, window) is not None:
            return walk
    return elementwise_walk(levels, (1,) * len(shape), dtypes)


def _heavy(value: Expr) -> Call | None:
    """The product, or the like, that a kernel computes."""
    found = (p for p in post_order(value) if isinstance(p, Call) and isinstance(p.target, (MatMul, Attention, Conv2d)))
    return next(found, None)


def _most(extent: ShapeDim, size: int) -> int:
    return min(extent, size) if isinstance(extent, int) and extent else size


def _dtypes(value: Expr) -> list[DType]:
    """The dtypes of the tensors of a kernel."""
    types = (part.type for part in post_order(value))
    return [type_.dtype for type_ in types if isinstance(type_, TensorType) and type_.rank]
