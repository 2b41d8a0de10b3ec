"""Which tile of a product each CTA computes at a time, and how its threads hold it: what a placement starts from."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.dims import Dim, DimVar
from tilefoundry.ir.shard import Layout, Mesh, Topology
from tilefoundry.ir.types import DType
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import Mode, whole
from tilefoundry.passes.lower.matrix.accumulator import WARP, Accumulator, accumulator, on_tensor_cores, sum_dtype
from tilefoundry.passes.lower.matrix.in_registers import FEW_ROWS
from tilefoundry.passes.lower.matrix.operands import Matrices
from tilefoundry.target import CudaTarget, Target

# Tiles and their rates, in shares of the best one. Measured on an H200, by 128 threads, bf16 at 4096 x 4096 x 4096:
# 128 x 128 and 128 x 64; on one thread of a CPU, f32 at 512 x 512 x 512: 64 x 64. The others are estimates.
_ON_TENSOR_CORES = {(128, 128): 1.0, (128, 64): 0.66, (64, 128): 0.65, (64, 64): 0.5, (32, 64): 0.3, (16, 64): 0.2}
_ON_THREADS = {(64, 64): 1.0, (32, 64): 0.8, (16, 64): 0.5}
_ON_ONE_THREAD = {(64, 64): 1.0, (16, 64): 0.8, (4, 64): 0.5}
_REGISTERS = 768  # bytes of a thread's 1020 that the values of a tile may take; a few more are spilled at its end
_MANY = 1 << 12  # what a symbolic extent is taken for


def product_tile(call: Call, threads: int, target: Target, dtypes: Sequence[DType] = ()) -> Accumulator:
    """A good tile of the last two axes of a product.

    Args:
        call: of MatMul, on global tensors.
        threads: of a CTA.
        target: what the program is placed for.
        dtypes: of other tensors of which the same tile is held in registers at the same time.

    Returns:
        The tile's shape, and how it is spread over a mesh of the threads.
    """
    rows, columns = (_most(extent) for extent in tensor_type(call).shape[-2:])
    level = Topology("thread", threads)
    operands, result = tensor_type(operand(call)).dtype, tensor_type(call).dtype
    sums = sum_dtype(operands, result)
    cores = on_tensor_cores(operands, sums) and isinstance(target, CudaTarget) and threads % WARP == 0
    if rows <= FEW_ROWS and threads % WARP == 0:
        return _few_rows(call, level, rows, columns, target)
    rates = _ON_TENSOR_CORES if cores else _ON_THREADS if threads > 1 else _ON_ONE_THREAD
    matrices = math.prod(_most(extent) for extent in tensor_type(call).shape[:-2])
    at_once = target.multiprocessors if isinstance(target, CudaTarget) else 1

    def cost(tile: tuple[int, int]) -> float:
        tiles = matrices * -(-rows // tile[0]) * -(-columns // tile[1])
        return -(-tiles // at_once) * tile[0] * tile[1] / rates[tile]

    # Bytes of registers: the sums, and the values of the same places that stand beside them.
    held = (sums.bits + sum(dtype.bits for dtype in dtypes)) // 8
    fitting = [tile for tile in rates if threads == 1 or math.prod(tile) * held <= _REGISTERS * threads]
    return accumulator(level, min(fitting or [min(rates, key=math.prod)], key=cost), cores)


def _few_rows(call: Call, level: Topology, rows: int, columns: int, target: Target) -> Accumulator:
    """Rows that each thread holds whole, by columns whose neighbours in memory are read at once.

    What is left of the mesh divides the reduced axis: see ``in_registers``.
    """
    assert isinstance(level.size, int)
    warps = level.size // WARP
    bits = tensor_type(operand(call, 1)).dtype.bits
    if Matrices.of(Primitives(call), operand(call, 1)).turned:
        mesh = Mesh((level,), Layout((warps, WARP)))
        return Accumulator(mesh, whole(rows), (Mode(warps, 0), Mode(4)))
    pack = max(1, 128 // bits)
    at_once = target.multiprocessors if isinstance(target, CudaTarget) else 1
    lanes = 8 if columns >= 8 * pack * at_once else 4
    mesh = Mesh((level,), Layout((warps, WARP // lanes, lanes)))
    return Accumulator(mesh, whole(rows), (Mode(lanes, 2), *whole(pack)))


def _most(extent: Dim) -> int:
    """An extent, or what a symbolic one may be at most."""
    if isinstance(extent, int):
        return extent
    return min(_MANY, extent.hi - 1) if isinstance(extent, DimVar) else _MANY
