"""A tile of a product, by a loop over the reduced axis that stages tiles of both operands in shared memory.

Sums are accumulated where the caller wants the tile, if that is an accumulator; else in a good one, which then goes
through shared memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_add
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import GridRegionExpr, MatMul, Reshard, Slice, Stack, Transpose, Zeros
from tilefoundry.ir.types import DType, StorageKind, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import Mode, Modes, spread_over, whole
from tilefoundry.passes.lower.matrix.accumulator import (
    Accumulator,
    accumulator,
    is_of_tensor_cores,
    on_tensor_cores,
    suits,
    sum_dtype,
)
from tilefoundry.passes.lower.matrix.operands import Matrices, ramp_along, zero_beyond
from tilefoundry.passes.lower.tile import Tile, staged
from tilefoundry.passes.lower.values import Scalar

_STAGED = 64 << 10  # bytes of one step, of which two are in flight
_CONVERTED = 64 << 10  # bytes of a tile on its way from one layout to another


def of_tiles(p: Primitives, call: Call, tile: Tile) -> Expr:
    """The tile, or its matrices one after the other where it has several."""
    several = [axis for axis, size in enumerate(tile.sizes[:-2]) if size != 1]
    matrices = [_Matrix.of(p, call, tile, at).compute() for at in product(*(range(size) for size in tile.sizes[:-2]))]
    if not several:
        return matrices[0]
    return tile.placed(p, p.call(Stack(0), *matrices), whole(len(matrices)), *tile.modes[-2:])


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One matrix of the tile.

    Attributes:
        batch: where it is along the batch axes.
        acc: how its sums are spread over the threads.
        sums: their type.
    """

    p: Primitives
    call: Call
    tile: Tile
    batch: tuple[Scalar, ...]
    acc: Accumulator
    sums: DType
    lhs: Matrices
    rhs: Matrices

    @staticmethod
    def of(p: Primitives, call: Call, tile: Tile, at: tuple[int, ...]) -> _Matrix:
        operands, result = tensor_type(operand(call)).dtype, tensor_type(call).dtype
        sums = sum_dtype(operands, result)
        cores = on_tensor_cores(operands, sums)
        acc = wanted(tile)
        other = accumulator(tile.mesh.topologies[0], acc.shape, cores)
        # Any layout is right: one that does not suit is slow, and one too large for shared memory stays.
        if not suits(acc, cores) and math.prod(other.shape) * result.bits // 8 <= _CONVERTED:
            acc = other
        batch = tuple(dim_add(start, k) for start, k in zip(tile.starts, at, strict=False))
        lhs, rhs = (Matrices.of(p, operand(call, k)) for k in (0, 1))
        return _Matrix(p, call, tile, batch, acc, sums, lhs, rhs)

    def compute(self) -> Expr:
        """The matrix in registers, spread as the tile's last two axes."""
        p = self.p
        result = p.cast(self._summed(), tensor_type(self.call).dtype)
        if self.acc == wanted(self.tile):
            return result
        stored: Expr = staged(p, result, self.acc.shape)
        sizes = self.tile.sizes[-2:]
        if sizes != self.acc.shape:
            stored = p.call(Slice(sizes), stored, Tuple((0, 0)))
        return self.tile.placed(p, stored, *self.tile.modes[-2:])

    # ---- the reduced axis -----------------------------------------------------------------------------------------

    def _summed(self) -> Expr:
        extent, depth = self._extent, self._depth()
        if isinstance(extent, int) and extent <= depth:
            return self._product(0, depth)
        zeros = self._placed(self.p.call(Zeros(make_tensor_type(self.acc.shape, self.sums))))
        k, acc = Var("k", INDEX_TYPE), Var("acc", zeros.type)
        total = self.p.add(acc, self._product(k, depth))
        return GridRegionExpr(k, (acc,), (zeros,), None, (total,), extent, depth)

    @property
    def _extent(self) -> Dim:
        return tensor_type(operand(self.call)).shape[-1]

    def _depth(self) -> int:
        """The extent of a step: what tensor cores take at a time, as often as two steps fit."""
        bits = tensor_type(operand(self.call)).dtype.bits
        least = 256 // bits if self._on_tensor_cores else 4
        depth = least * 4 if self._on_tensor_cores else max(least, 2048 // bits)
        while depth > least and sum(self.acc.shape) * depth * bits // 8 > _STAGED:
            depth //= 2
        return min(depth, -(-self._extent // least) * least) if isinstance(self._extent, int) else depth

    @property
    def _on_tensor_cores(self) -> bool:
        return on_tensor_cores(tensor_type(operand(self.call)).dtype, self.sums) and is_of_tensor_cores(self.acc)

    def _product(self, k: Expr | int, depth: int) -> Call:
        columns = self.acc.shape[1]
        row, column = self.tile.starts[-2:]
        lhs = self._lhs(k, depth, row)
        rhs = self.rhs.window(self.batch, self._ones, (k, column), (depth, columns))
        if self.rhs.turned:
            tile: Expr = self.p.call(Transpose((1, 0)), staged(self.p, rhs, (columns, depth)))
        else:
            tile = staged(self.p, rhs, (depth, columns))
        return self._placed(self.p.call(MatMul(self.sums), lhs, tile))

    @property
    def _ones(self) -> tuple[int, ...]:
        return (1,) * len(self.batch)

    def _lhs(self, k: Expr | int, depth: int, row: Scalar) -> Expr:
        p, rows = self.p, self.acc.shape[0]
        x = self.lhs.window(self.batch, self._ones, (row, k), (rows, depth))
        if self.lhs.turned:
            return p.call(Transpose((1, 0)), staged(p, x, (depth, rows)))
        if self.lhs.computed and self._takes_registers:
            # What tensor cores take from registers is computed there.
            modes = (Mode(depth // 8), *self.acc.columns[-2:])
            x = p.call(Reshard(spread_over(self.acc.mesh, self.acc.rows, modes), StorageKind.RMEM), x)
            x = self._within(x, modes, k, depth)
        return staged(p, x, (rows, depth))

    @property
    def _takes_registers(self) -> bool:
        return self._on_tensor_cores and tensor_type(operand(self.call)).dtype.bits == 16

    def _within(self, x: Expr, modes: Modes, k: Expr | int, depth: int) -> Expr:
        """Zero beyond the reduced axis, whatever is computed there."""
        if isinstance(self._extent, int) and self._extent % depth == 0:
            return x
        ramp = self.p.call(
            Reshard(spread_over(self.acc.mesh, (), modes), StorageKind.RMEM), ramp_along(self.p, depth, 1, 2)
        )
        return zero_beyond(self.p, x, ramp, k, self._extent)

    def _placed(self, x: Expr) -> Call:
        return self.p.call(Reshard(spread_over(self.acc.mesh, self.acc.rows, self.acc.columns), StorageKind.RMEM), x)


def wanted(tile: Tile) -> Accumulator:
    """The tile's matrices as the caller wants them."""
    return Accumulator(tile.mesh, *tile.modes[-2:])
