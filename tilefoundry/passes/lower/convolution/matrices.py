"""Matrices within a shared tile: some of its axes make up the rows, others the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@dataclass(frozen=True, slots=True)
class _MatrixOf(Op):
    """``_MatrixOf(...)(tile, starts)``: what no reshape can say, since the axes of one side lie apart."""

    tile: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef()
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    sides: tuple[tuple[int, ...], tuple[int, ...]]

    def type_rule(self, ctx: TypeContext, tile: Expr, starts: Expr) -> TensorType:  # type: ignore[override]
        """Each side's modes, the last axis innermost."""
        t = tensor_type(tile)
        assert isinstance(t.layout, Layout) and t.layout.strides is not None
        shape, modes = [], []
        for side in self.sides:
            axes = [axis for axis in reversed(side) if self.sizes[axis] != 1] or [side[-1]]
            extents = tuple(self.sizes[axis] for axis in axes)
            strides = tuple(t.layout.strides[axis] * self.steps[axis] for axis in axes)
            total = 1
            for extent in extents:
                total *= extent
            shape.append(total)
            modes.append((extents, strides) if len(axes) > 1 else (extents[0], strides[0]))
        layout = Layout(tuple(extent for extent, _ in modes), tuple(stride for _, stride in modes))
        return TensorType(tuple(shape), t.dtype, layout, StorageKind.SMEM)


def matrix_of(
    p: Primitives,
    tile: Expr,
    starts: tuple[Expr | int, ...],
    sizes: tuple[int, ...],
    sides: tuple[tuple[int, ...], tuple[int, ...]],
    steps: tuple[int, ...] | None = None,
) -> Call:
    """A matrix within a shared tile.

    Args:
        starts, sizes, steps: for each axis of the tile, where the matrix begins, how many elements, and which.
        sides: the axes that make up the rows, and the columns, outermost first; others have size 1.
    """
    return p.call(_MatrixOf(sizes, steps or (1,) * len(sizes), sides), tile, Tuple(starts))


@lowers(_MatrixOf)
def _lower_matrix(ctx: Lowering, call: Call) -> Value:
    starts = call.args[1]
    assert isinstance(starts, Tuple)
    tile, type_ = ctx.shared(operand(call), call), tensor_type(call)
    return ctx.bind(f"{tile.name}_matrix", tir.view_as(type_), (tile, *map(ctx.scalar, starts.elements)), type_)


def channels_innermost(shape: tuple[int, ...], channel: int, bits: int) -> Layout:
    """A layout of a tile with the channels of a place next to each other, and places 16 bytes further apart.

    So a matrix of channels by places is read eight channels at a time from whatever place on, and neighbouring places
    meet different banks.
    """
    chunk = max(1, 128 // bits)
    step = -(-shape[channel] // chunk) * chunk + chunk
    strides = [0] * len(shape)
    strides[channel] = 1
    for axis in reversed([axis for axis in range(len(shape)) if axis != channel]):
        strides[axis] = step
        step *= shape[axis]
    return Layout(shape, tuple(strides))
