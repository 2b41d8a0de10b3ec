"""Reduce of a global tensor: what a tile of the result needs, at once in registers or in loops over tiles.

The reduced axes are spread over the units that the tile leaves alike. Within a loop each unit adds up what it reads;
the units combine after it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_product
from tilefoundry.ir.hir import BinaryKind, Cast, FullLike, GridRegionExpr, Reduce, ReduceKind, UnaryKind, Zeros
from tilefoundry.ir.hir.common import normalize_axes
from tilefoundry.ir.types import DType, ShapeDim, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.empty import identity
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, operand
from tilefoundry.passes.lower.fragments import HELD, Modes, extent_of, held_by_each, row_modes, spread_of, step_modes
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Scalar

_COMBINE = {
    ReduceKind.SUM: BinaryKind.ADD,
    ReduceKind.MAX: BinaryKind.MAX,
    ReduceKind.MIN: BinaryKind.MIN,
    ReduceKind.PROD: BinaryKind.MUL,
    ReduceKind.ANY: BinaryKind.OR,
    ReduceKind.ALL: BinaryKind.AND,
}


@dataclass(frozen=True, slots=True)
class _Axis:
    """What is read of an axis at once: the start, the modes, and the variable of the loop where there is one."""

    start: Scalar
    modes: Modes
    extent: ShapeDim
    reduced: bool
    loop: Var | None = None

    @property
    def size(self) -> int:
        return extent_of(self.modes)

    @property
    def exceeds(self) -> bool:
        """Whether what is read may lie beyond the end of a reduced axis."""
        return self.reduced and not (isinstance(self.extent, int) and self.extent % self.size == 0)


def reduce_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """A tile of the result of a Reduce."""
    op, x = call.target, operand(call)
    assert isinstance(op, Reduce)
    dtype, shape = tensor_type(x).dtype, tensor_type(x).shape
    axes = normalize_axes(op.axes, len(shape))
    kind, computed = _computed(op.kind, dtype)
    reading = _Reading(p, tile, x, _axes(tile, shape, axes, op.keepdim), kind, computed, op.kind is ReduceKind.ABS_MAX)
    total: Expr = p.reduce(kind, reading.total(), axes)
    if op.kind is ReduceKind.MEAN:
        total = p.div(total, _count(p, dim_product(shape[axis] for axis in axes), computed))
    return p.cast(total, dtype)


def _computed(kind: ReduceKind, dtype: DType) -> tuple[ReduceKind, DType]:
    """What is combined, and in which type: floats that are added or multiplied are rounded once."""
    if kind in (ReduceKind.SUM, ReduceKind.MEAN, ReduceKind.PROD) and dtype.is_float:
        return ReduceKind.PROD if kind is ReduceKind.PROD else ReduceKind.SUM, compute_dtype(dtype)
    return ReduceKind.MAX if kind is ReduceKind.ABS_MAX else kind, dtype


def _count(p: Primitives, count: ShapeDim, dtype: DType) -> Expr | float:
    """How many elements a mean is of."""
    return float(count) if isinstance(count, int) else p.call(Cast(dtype), count)


def _axes(tile: Tile, shape: tuple[ShapeDim, ...], reduced: tuple[int, ...], keepdim: bool) -> list[_Axis]:
    """How much of each axis is read at once: from the last one on, whole axes while registers hold them."""
    kept = iter(range(len(tile.sizes)))
    own = [None if axis in reduced and not keepdim else next(kept) for axis in range(len(shape))]
    found: dict[int, _Axis] = {}
    for axis, k in enumerate(own):
        if axis not in reduced:
            assert k is not None
            found[axis] = _Axis(tile.starts[k], tile.modes[k], shape[axis], False)
    looped = False
    for axis in reversed(reduced):
        extent, others = shape[axis], [a.modes for a in found.values()]
        if isinstance(extent, int) and not looped and (whole := _whole(tile, others, extent)) is not None:
            found[axis] = _Axis(0, whole, extent, True)
            continue
        modes = () if looped else step_modes(tile.mesh, others, extent)
        variable = Var("k", INDEX_TYPE)
        found[axis] = _Axis(variable, modes, extent, True, variable)
        looped = True
    return [found[axis] for axis in range(len(shape))]


def sum_before(p: Primitives, tile: Tile, x: Expr, axis: int, end: Scalar) -> Expr:
    """What stands before a place along an axis, added up, for a tile of the others; in the type of sums."""
    dtype = tensor_type(x).dtype
    kind, computed = _computed(ReduceKind.SUM, dtype)
    others = [modes for k, modes in enumerate(tile.modes) if k != axis]
    modes, variable = step_modes(tile.mesh, others, end), Var("k", INDEX_TYPE)
    axes = [
        _Axis(variable, modes, end, True, variable) if k == axis else _Axis(start, tile.modes[k], 0, False)
        for k, start in enumerate(tile.starts)
    ]
    return p.reduce(kind, _Reading(p, tile, x, axes, kind, computed, False).total(), (axis,))


def _whole(tile: Tile, others: list[Modes], extent: int) -> Modes | None:
    """How all of an axis is read at once, as it is held anyway if it is; None where it is too long."""
    held = tile.rows.get(extent)
    if held is not None and not spread_of(held) & spread_of(*others):
        return held
    modes = row_modes(tile.mesh, others, extent)
    return modes if held_by_each(*others, modes) <= HELD else None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The elements that a tile of the result is reduced of."""

    p: Primitives
    tile: Tile
    x: Expr
    axes: list[_Axis]
    kind: ReduceKind
    dtype: DType
    magnitudes: bool

    def total(self) -> Expr:
        """A tile with all elements, or with what each unit has combined of them."""
        loops = [axis for axis in self.axes if axis.loop is not None]
        if not loops:
            return self._elements()
        carries = [Var("total", self._neutral().type) for _ in loops]
        combined: Expr = self.p.binary(_COMBINE[self.kind], carries[-1], self._elements())
        inits = [self._neutral(), *carries[:-1]]
        for axis, carry, init in reversed(list(zip(loops, carries, inits, strict=True))):
            assert axis.loop is not None
            combined = GridRegionExpr(axis.loop, (carry,), (init,), None, (combined,), axis.extent, axis.size)
        return combined

    def _elements(self) -> Expr:
        p = self.p
        starts, sizes = tuple(axis.start for axis in self.axes), tuple(axis.size for axis in self.axes)
        tile = Tile(0, starts, sizes, sizes, tuple(self._modes()), self.tile.mesh)
        elements = tile.read(p, self.x)
        value = p.cast(p.unary(UnaryKind.ABS, elements) if self.magnitudes else elements, self.dtype)
        for k, axis in enumerate(self.axes):
            if axis.exceeds:
                value = tile.up_to(p, value, k, axis.extent, self._number())
        return value

    def _neutral(self) -> Expr:
        zeros = self.p.call(Zeros(make_tensor_type(tuple(axis.size for axis in self.axes), self.dtype)))
        return self.p.call(FullLike(self._number()), self.tile.placed(self.p, zeros, *self._modes()))

    def _number(self) -> float | int | bool:
        """What changes nothing."""
        number = identity(ReduceKind.ABS_MAX if self.magnitudes else self.kind, self.dtype)
        if self.kind.is_logical:
            return bool(number)
        return float(number) if self.dtype.is_float else int(number)

    def _modes(self) -> list[Modes]:
        return [axis.modes for axis in self.axes]
