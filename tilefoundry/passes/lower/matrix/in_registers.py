"""A tile of a product with few rows, or over a mesh that is no CTA's: operands go to registers as they are read.

Each unit multiplies for its own elements of the tile. What the tile does not use of the mesh divides the reduced axis,
so a row by a matrix is read by all threads at once, at the rate of memory.
"""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import GridRegionExpr, ReduceKind, Transpose, Zeros
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import Modes, extent_of, step_modes
from tilefoundry.passes.lower.matrix.accumulator import sum_dtype
from tilefoundry.passes.lower.matrix.operands import Matrices, ramp_along, zero_beyond
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Scalar

FEW_ROWS = 4  # more are worth a tile in shared memory
_MATRICES = 16


def suits_registers(tile: Tile) -> bool:
    """Whether a tile has few rows, or cannot be made of matrices that lie in shared memory."""
    split = any(mode.split is not None for modes in tile.modes[:-2] for mode in modes)
    several = math.prod(tile.sizes[:-2])
    level = tile.mesh.topologies
    of_cta = isinstance(tile.mesh.layout, Layout) and len(level) == 1 and isinstance(level[0].size, int)
    return split or several > _MATRICES or not of_cta or tile.sizes[-2] <= FEW_ROWS


def in_registers(p: Primitives, call: Call, tile: Tile) -> Expr:
    """The tile."""
    return _Sums(p, call, tile).compute()


class _Sums:
    """Sums of the tile's elements, each for a part of the reduced axis.

    They have that axis before the columns, or after them where memory has it so.
    """

    def __init__(self, p: Primitives, call: Call, tile: Tile) -> None:
        self.p, self.tile = p, tile
        self.lhs, self.rhs = (Matrices.of(p, operand(call, k)) for k in (0, 1))
        self.result = tensor_type(call).dtype
        self.dtype = sum_dtype(tensor_type(operand(call)).dtype, self.result)
        self.extent = tensor_type(operand(call)).shape[-1]
        self.reduced = step_modes(tile.mesh, tile.modes, self.extent)

    def compute(self) -> Expr:
        p, step = self.p, extent_of(self.reduced)
        sums = self._sums(step)
        total = p.reduce(ReduceKind.SUM, sums, (-1 if self.rhs.turned else -2,)) if step != 1 else sums
        return p.cast(p.reshape(total, self.tile.sizes), self.result)

    def _sums(self, step: int) -> Expr:
        p = self.p
        if isinstance(self.extent, int) and self.extent <= step:
            return self._products(0)
        *before, columns = self.tile.modes
        axes = (*before, columns, self.reduced) if self.rhs.turned else (*before, self.reduced, columns)
        shape = tuple(map(extent_of, axes))
        zeros = self.tile.placed(p, p.call(Zeros(make_tensor_type(shape, self.dtype))), *axes)
        k, acc = Var("k", INDEX_TYPE), Var("acc", zeros.type)
        total = p.add(acc, self._products(k))
        return GridRegionExpr(k, (acc,), (zeros,), None, (total,), self.extent, step)

    def _products(self, k: Expr | int) -> Expr:
        p = self.p
        rows, columns = self.tile.modes[-2:]
        row, column = self.tile.starts[-2:]
        lhs = self._factor(self.lhs, (row, k), (rows, self.reduced), 1, k)
        if self.lhs.turned:
            rank = tensor_type(lhs).rank
            lhs = p.call(Transpose((*range(rank - 2), rank - 1, rank - 2)), lhs)
        rhs = self._factor(self.rhs, (k, column), (self.reduced, columns), 0, k)
        *batch, extent, step = tensor_type(lhs).shape
        lhs = p.reshape(lhs, (*batch, extent, 1, step) if self.rhs.turned else (*batch, extent, step, 1))
        *batch, first, second = tensor_type(rhs).shape
        return p.mul(p.cast(lhs, self.dtype), p.cast(p.reshape(rhs, (*batch, 1, first, second)), self.dtype))

    def _factor(
        self, x: Matrices, at: tuple[Scalar, Scalar], axes: tuple[Modes, Modes], reduced: int, k: Expr | int
    ) -> Expr:
        """A window of an operand in registers, turned if the operand is; `reduced` is the axis that is summed over."""
        p, tile = self.p, self.tile
        lacks = len(tile.sizes) - 2 - len(x.batch)
        once = [extent == 1 for extent in x.batch]
        starts = [0 if one else start for one, start in zip(once, tile.starts[lacks:], strict=False)]
        batch = [() if one else modes for one, modes in zip(once, tile.modes[lacks:], strict=False)]
        step = -1 if x.turned else 1
        modes = (*batch, *axes[::step])
        shape = tuple(map(extent_of, modes))
        part: Expr = tile.placed(p, window(p, x.x, (*starts, *at[::step]), shape, ()), *modes)
        if x.computed and not (isinstance(self.extent, int) and self.extent % extent_of(self.reduced) == 0):
            along = len(batch) + (1 - reduced if x.turned else reduced)
            spread = [own if axis == along else () for axis, own in enumerate(modes)]
            ramp = tile.placed(p, ramp_along(p, shape[along], along, len(shape)), *spread)
            part = zero_beyond(p, part, ramp, k, self.extent)
        return part
