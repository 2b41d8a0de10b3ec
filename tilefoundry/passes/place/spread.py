"""How a tile is spread over the threads of a CTA: contiguous elements on neighbouring lanes, 16 bytes to each."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tilefoundry.ir.shard import Mesh, Topology
from tilefoundry.ir.types import DType, ShapeDim
from tilefoundry.passes.lower.fragments import Mode, Modes, whole
from tilefoundry.passes.place.kernel import Walk, mesh_of
from tilefoundry.target import Target

_VECTOR_BITS = 128
_LANES = 32
_REPEATS = 4  # vectors of a thread in a tile: enough loads in flight, few registers
_CPU_TILE = 256  # elements that one thread of a CPU computes at a time: they stay in its nearest cache
HELD = 64  # elements of one value that a thread holds at most


@dataclass(frozen=True, slots=True)
class Levels:
    """The units that a program is placed on, and the target that they are of."""

    ctas: Topology
    threads: Topology
    target: Target

    @property
    def cta_mesh(self) -> Mesh:
        """All CTAs, along one axis."""
        return mesh_of(self.ctas, (self.ctas.size,), ("c",))

    @property
    def thread_count(self) -> int:
        """Threads of a CTA."""
        assert isinstance(self.threads.size, int)  # checked when the levels are chosen
        return self.threads.size


@dataclass(slots=True)
class _Spread:
    """Gives threads to axes, from the last one on, as long as there are some."""

    left: int  # a power of two
    factors: list[int]  # of the mesh, innermost first

    def take(self, wanted: int) -> Mode | None:
        """A mode of at most as many threads as are wanted, and as are left; None for one."""
        count = min(self.left, wanted)
        if count == 1:
            return None
        self.left //= count
        self.factors.append(count)
        return Mode(count, -len(self.factors))  # numbered from the end until the mesh is known


def elementwise_walk(levels: Levels, shape: Sequence[ShapeDim], dtypes: Sequence[DType]) -> Walk:
    """Tiles of values that need no more than the same tile of each operand.

    Args:
        dtypes: of operands and results; the narrowest decides how many elements are a vector.
    """
    if levels.thread_count == 1:
        return _single(levels, shape, _CPU_TILE)
    spread = _Spread(_power_of_two(levels.thread_count), [])
    vector = _VECTOR_BITS // max(dtype.storage_bits for dtype in dtypes)
    sizes: list[int] = []
    modes: list[Modes] = []
    for axis in reversed(range(len(shape))):
        extent = shape[axis]
        last = axis == len(shape) - 1
        held = (vector if not isinstance(extent, int) else min(vector, extent)) if last else 1
        units = _units(extent, held, _LANES if last and len(shape) > 1 else spread.left)
        mode = spread.take(units)
        covered = held * (mode.extent if mode else 1)
        repeats = 1
        if last:
            repeats = _REPEATS if not isinstance(extent, int) else min(_REPEATS, max(1, -(-extent // covered)))
        sizes.append(repeats * covered)
        modes.append(_modes(repeats, mode, held))
    return finished(levels, spread.factors, sizes[::-1], modes[::-1])


def row_walk(levels: Levels, shape: Sequence[ShapeDim], rows: Collection[int], dtypes: Sequence[DType]) -> Walk:
    """Tiles of values that are made of what is reduced along some axes.

    A tile holds these axes whole where a CTA can; else one CTA computes the tiles along them one after the other.

    Args:
        rows: the axes, counted from the end.
    """
    along = {len(shape) + axis: shape[axis] for axis in rows if -axis <= len(shape)}
    held = {axis: extent for axis, extent in along.items() if isinstance(extent, int)}
    count = max(1, math.prod(held.values()))
    if len(held) < len(along) or count > HELD * max(levels.thread_count, _CPU_TILE):
        order = [axis for axis in range(len(shape)) if axis not in along] + sorted(along)
        inner = elementwise_walk(levels, [shape[axis] for axis in order], dtypes)
        back = [order.index(axis) for axis in range(len(shape))]
        in_place = Walk(
            inner.ctas, inner.threads, tuple(inner.sizes[k] for k in back), tuple(inner.modes[k] for k in back)
        )
        return replace(in_place, kept=frozenset(along))
    if levels.thread_count == 1:
        extents = [held.get(axis, 1) for axis in range(len(shape))]
        return finished(levels, (), extents, [whole(size) for size in extents])
    spread = _Spread(_power_of_two(levels.thread_count), [])
    units = min(spread.left, max(min(_LANES, _power_above(count)), _power_above(-(-count * 2 // HELD))))
    vector = _VECTOR_BITS // max(dtype.storage_bits for dtype in dtypes)
    sizes = [1] * len(shape)
    modes: list[Modes] = [()] * len(shape)
    for axis in sorted(held, reverse=True):
        extent = held[axis]
        kept = vector if axis == len(shape) - 1 and extent % vector == 0 and extent // vector >= units else 1
        mode = spread.take(min(units, _power_above(-(-extent // kept))))
        units //= mode.extent if mode else 1
        covered = kept * (mode.extent if mode else 1)
        repeats = -(-extent // covered)
        sizes[axis] = repeats * covered
        modes[axis] = _modes(repeats, mode, kept)
    for axis in reversed(range(len(shape))):
        if axis not in held:
            mode = spread.take(_units(shape[axis], 1, spread.left))
            sizes[axis], modes[axis] = mode.extent if mode else 1, _modes(1, mode, 1)
    return finished(levels, spread.factors, sizes, modes)


def reduction_walk(levels: Levels, shape: Sequence[ShapeDim], along_last: bool, dtypes: Sequence[DType]) -> Walk:
    """Tiles of what is reduced; threads that no axis of the result takes share a reduction.

    Args:
        along_last: neighbouring elements of memory are reduced, so that a warp reads one row; else it reads columns.
    """
    if levels.thread_count == 1:
        return _single(levels, shape, 1 if along_last else _CPU_TILE)
    threads = _power_of_two(levels.thread_count)
    spread = _Spread(max(1, threads // _LANES) if along_last else min(threads, _LANES), [])
    sizes: list[int] = []
    modes: list[Modes] = []
    for extent in reversed(shape):
        mode = spread.take(_units(extent, 1, spread.left))
        sizes.append(mode.extent if mode else 1)
        modes.append(_modes(1, mode, 1))
    return finished(levels, spread.factors, sizes[::-1], modes[::-1])


def accumulator_walk(
    levels: Levels, shape: Sequence[ShapeDim], rows: tuple[int, int], columns: tuple[int, int]
) -> Walk:
    """Tiles that lie as tensor cores accumulate them: 16 rows for each warp, 8 columns for each quarter of one.

    Args:
        rows, columns: an axis of the result, counted from the end, and the most elements of it in a tile. Rows are
            rounded up to 16 for each warp, columns to 8.
    """
    sizes: list[int] = [1] * len(shape)
    modes: list[Modes] = [()] * len(shape)
    if levels.thread_count % _LANES:
        for axis, most in (rows, columns):
            sizes[axis] = most
            modes[axis] = whole(most)
        return finished(levels, (), sizes, modes)
    warps = levels.thread_count // _LANES
    (row, row_size), (column, column_size) = rows, columns
    blocks, eights = -(-row_size // (16 * warps)), -(-column_size // 8)
    sizes[row], sizes[column] = blocks * warps * 16, eights * 8
    over_warps = (Mode(warps, -3),) if warps > 1 else ()
    modes[row] = (*whole(blocks), *over_warps, Mode(2), Mode(8, -2))
    modes[column] = (*whole(eights), Mode(4, -1), Mode(2))
    return finished(levels, (4, 8, warps) if warps > 1 else (4, 8), sizes, modes)


def _modes(repeats: int, mode: Mode | None, held: int) -> Modes:
    return (*whole(repeats), *((mode,) if mode else ()), *whole(held))


def finished(levels: Levels, factors: Sequence[int], sizes: Sequence[int], modes: Sequence[Modes]) -> Walk:
    """The walk, with a mesh of the factors (innermost first) and whatever threads are left as its first axis."""
    used = 1
    for factor in factors:
        used *= factor
    rest = levels.thread_count // used
    shape = (*((rest,) if rest > 1 or not factors else ()), *reversed(factors))
    mesh = mesh_of(levels.threads, shape, tuple(f"t{k}" for k in range(len(shape))))
    numbered = tuple(
        tuple(m if m.split is None else Mode(m.extent, len(shape) + m.split) for m in axis) for axis in modes
    )
    return Walk(levels.cta_mesh, mesh, tuple(sizes), numbered)


def _single(levels: Levels, shape: Sequence[ShapeDim], elements: int) -> Walk:
    """Tiles of one thread: whole inner axes, as long as they fit."""
    sizes: list[int] = []
    for extent in reversed(shape):
        size = elements if not isinstance(extent, int) else max(1, min(elements, extent))
        sizes.append(size)
        elements = max(1, elements // size)
    sizes.reverse()
    return finished(levels, (), sizes, [whole(size) for size in sizes])


def _units(extent: ShapeDim, held: int, most: int) -> int:
    """Threads for an axis: a power of two, no more than it has use for."""
    if not isinstance(extent, int):
        return most
    wanted = 1
    while wanted < most and wanted * held < extent:
        wanted *= 2
    return wanted


def _power_above(count: int) -> int:
    """The least power of two that is no less than a number."""
    return 1 << max(0, count - 1).bit_length()


def _power_of_two(count: int) -> int:
    """The greatest power of two that divides a number."""
    return count & -count
