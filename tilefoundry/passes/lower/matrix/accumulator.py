"""How a product is accumulated: which threads hold which rows and columns.

Tensor cores and the multiplications of single threads each have layouts that suit them. A tile that a caller wants
otherwise is accumulated in one of these, and goes through shared memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from tilefoundry.ir.shard import Layout, Mesh, Topology, flat_modes
from tilefoundry.ir.types import DType
from tilefoundry.passes.lower.fragments import Mode, Modes, extent_of

WARP = 32
# Element types that tensor cores multiply, and the type of the sums. f32 is never shortened to tf32.
_TENSOR_CORE_SUMS = {
    DType.f16: DType.f32,
    DType.bf16: DType.f32,
    DType.fp8e4m3: DType.f32,
    DType.fp8e5m2: DType.f32,
    DType.i8: DType.i32,
}
# Of an accumulator of m16n8: what the bits of a lane's number move, 0 for rows and 1 for columns, and how far.
# (PTX ISA, "Matrix Fragments for mma.m16n8k16".)
_LANE_BITS = ((1, 2), (1, 4), (0, 1), (0, 2), (0, 4))
_ATOM = (16, 8)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A matrix over the threads of a CTA.

    Attributes:
        rows, columns: the modes of the two axes, over the axes of the mesh.
    """

    mesh: Mesh
    rows: Modes
    columns: Modes

    @property
    def shape(self) -> tuple[int, int]:
        """The extents of the matrix."""
        return extent_of(self.rows), extent_of(self.columns)


def sum_dtype(operands: DType, result: DType) -> DType:
    """The type in which products are summed: f32, f64 for f64; integers exactly, in 32 bits or in 64."""
    if result.is_float:
        return DType.f64 if result is DType.f64 else DType.f32
    return DType.i64 if DType.i64 in (operands, result) else DType.i32


def on_tensor_cores(operands: DType, sums: DType) -> bool:
    """Whether there are instructions of tensor cores for such products."""
    return _TENSOR_CORE_SUMS.get(operands) is sums


def suits(acc: Accumulator, tensor_cores: bool) -> bool:
    """Whether products may be accumulated as the matrix is spread: nobody computes what others do."""
    if not isinstance(acc.mesh.layout, Layout) or len(acc.mesh.topologies) != 1:
        return False
    used = {mode.split for mode in (*acc.rows, *acc.columns)}
    if any(extent != 1 and axis not in used for axis, extent in enumerate(acc.mesh.shape)):
        return False
    threads = _threads(acc.mesh)
    return not tensor_cores or threads is None or threads % WARP != 0 or is_of_tensor_cores(acc)


def is_of_tensor_cores(acc: Accumulator) -> bool:
    """Whether tensor cores accumulate so: lanes as in m16n8, warps on blocks of 16 rows and 8 columns."""
    if not _in_pairs(acc.rows, 8, _ATOM[0]) or not _in_pairs(acc.columns, 1, _ATOM[1]):
        return False
    assert isinstance(acc.mesh.layout, Layout)
    moves = {split: (axis, weight) for axis in (0, 1) for split, weight in _moves((acc.rows, acc.columns)[axis])}
    covered = 0
    for number, (extent, stride) in enumerate(flat_modes(acc.mesh.layout)):
        if extent == 1:
            continue
        if not isinstance(extent, int) or not isinstance(stride, int) or number not in moves:
            return False
        axis, weight = moves[number]
        reach = 1
        for bit, (of_axis, distance) in enumerate(_LANE_BITS):
            if stride <= 1 << bit < stride * extent:
                if axis != of_axis or weight * ((1 << bit) // stride) != distance:
                    return False
                covered += 1
                reach *= 2
        if extent % reach or (extent > reach and weight * reach % _ATOM[axis]):
            return False
    return covered == len(_LANE_BITS)


def accumulator(level: Topology, shape: tuple[int, int], tensor_cores: bool) -> Accumulator:
    """A good accumulator of a matrix at least as large, over all threads of a CTA."""
    threads = level.size
    assert isinstance(threads, int)  # of a CTA
    if tensor_cores and threads % WARP == 0:
        return _of_warps(level, threads // WARP, shape)
    return _of_threads(level, threads, shape)


def _of_warps(level: Topology, warps: int, shape: tuple[int, int]) -> Accumulator:
    """Warps along the rows first, four of them as a warpgroup has them, and what is left along the columns."""
    down = max(d for d in _divisors(warps) if d == 1 or _ATOM[0] * d < shape[0] + _ATOM[0])
    across = warps // down
    rows = (Mode(_up(shape[0], _ATOM[0] * down)), Mode(down, 0), Mode(2), Mode(8, 2))
    columns = (Mode(across, 1), Mode(_up(shape[1], _ATOM[1] * across)), Mode(4, 3), Mode(2))
    # Neighbouring warps have neighbouring rows: those of a warpgroup are 64.
    return _over(level, ((down, 32), (across, 32 * down), (8, 4), (4, 1)), rows, columns)


def _of_threads(level: Topology, threads: int, shape: tuple[int, int]) -> Accumulator:
    """Blocks as square as they may be, of rows and columns that neighbours interleave: each meets a bank of its own."""
    lanes = math.gcd(threads, WARP)
    lane = {32: (4, 8), 16: (4, 4), 8: (2, 4), 4: (2, 2), 2: (1, 2)}.get(lanes, (1, 1))
    warps = threads // (lane[0] * lane[1])

    def cost(down: int) -> tuple[int, int]:
        # what a thread reads for each element of the reduced axis, and how many threads idle
        rows, columns = _up(shape[0], down * lane[0]), _up(shape[1], warps // down * lane[1])
        return rows * columns, rows + columns

    down = min(_divisors(warps), key=cost)
    across = warps // down
    rows = (Mode(_up(shape[0], down * lane[0])), Mode(down, 0), Mode(lane[0], 2))
    held = _up(shape[1], across * lane[1])
    pack = held if threads == 1 else math.gcd(held, 4)
    columns = (Mode(held // pack), Mode(across, 1), Mode(lane[1], 3), Mode(pack))
    step = lane[0] * lane[1]
    return _over(level, ((down, across * step), (across, step), (lane[0], lane[1]), (lane[1], 1)), rows, columns)


def _over(level: Topology, axes: Sequence[tuple[int, int]], rows: Modes, columns: Modes) -> Accumulator:
    """Over a mesh of axes, each an extent and a stride, of which those of extent 1 are left out."""
    kept = [k for k, (extent, _) in enumerate(axes) if extent != 1]
    layout = Layout(tuple(axes[k][0] for k in kept) or (1,), tuple(axes[k][1] for k in kept) or (1,))

    def own(modes: Modes) -> Modes:
        return tuple(
            Mode(mode.extent, None if mode.split is None else kept.index(mode.split))
            for mode in modes
            if mode.extent != 1
        )

    return Accumulator(Mesh((level,), layout), own(rows), own(columns))


def _up(extent: int, step: int) -> int:
    """How many steps cover an extent."""
    return -(-extent // step)


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _threads(mesh: Mesh) -> int | None:
    return mesh.size if isinstance(mesh.size, int) else None


def _weights(modes: Modes) -> list[int]:
    """How far a step along each mode moves."""
    return [extent_of(modes[k + 1 :]) for k in range(len(modes))]


def _moves(modes: Modes) -> Iterable[tuple[int, int]]:
    """For each mesh axis that splits a mode, how far a step along it moves."""
    return ((mode.split, w) for mode, w in zip(modes, _weights(modes), strict=True) if mode.split is not None)


def _in_pairs(modes: Modes, distance: int, atom: int) -> bool:
    """Whether a unit's elements come in pairs at a distance, the first at a multiple of `atom` from its first one."""
    own = [(mode.extent, w) for mode, w in zip(modes, _weights(modes), strict=True) if mode.split is None]
    steps = [sum(at) for at in product(*(range(0, extent * w, w) for extent, w in own))]
    pairs = zip(steps[::2], steps[1::2], strict=False)
    return len(steps) % 2 == 0 and all(first % atom == 0 and second == first + distance for first, second in pairs)
