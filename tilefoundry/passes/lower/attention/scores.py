"""What scores become before the softmax: scaled, masked, and as exponents of two."""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import dim_add, dim_sub
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Arange, Attention, BinaryKind, Cast
from tilefoundry.ir.types import BoolDType, DType, StorageKind, TensorType, make_tensor_type
from tilefoundry.passes.lower.context import is_scalar, tensor_type
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, operand
from tilefoundry.passes.lower.fragments import Modes, extent_of
from tilefoundry.passes.lower.tile import Tile, window

# Powers of two instead of e: exp(x) = exp2(x log2(e)), and the factor is part of the scale.
_LOG2_E = math.log2(math.e)


class Scores:
    """The scores of a tile: of (heads, queries) in rows, and of the keys of one step in columns."""

    def __init__(self, p: Primitives, call: Call, tile: Tile, keys: Modes) -> None:
        op = call.target
        assert isinstance(op, Attention)
        self.p, self.tile, self.keys, self.causal = p, tile, keys, op.causal
        q = tensor_type(operand(call))
        self.queries, self.extent = q.shape[2], tensor_type(operand(call, 1)).shape[2]
        self.wide = compute_dtype(q.dtype)
        width = q.shape[3]
        assert isinstance(width, int)  # of a tile
        self.scale = op.scale if op.scale is not None else 1 / math.sqrt(width)
        self.mask = operand(call, 3) if len(call.args) == 4 else None
        self.axes = (tile.modes[1], tile.modes[2], keys)
        self.shape = tuple(map(extent_of, self.axes))

    def exponents(self, products: Expr, key: Expr | int) -> Expr:
        """What powers of two are taken of, from the products of queries and keys from `key` on."""
        p = self.p
        added = self.mask is not None and not isinstance(tensor_type(self.mask).dtype, BoolDType)
        s: Expr = p.mul(products, self.scale if added else self.scale * _LOG2_E)
        conditions = self._conditions(key)
        if self.mask is None and not conditions:
            return s
        s = p.reshape(s, self.shape)
        if self.mask is not None:
            mask = self._mask(self.mask, key)
            s = p.mul(p.add(s, p.cast(mask, self.wide)), _LOG2_E) if added else p.where(mask, s, -math.inf)
        for condition in conditions:
            s = p.where(condition, s, -math.inf)
        return p.reshape(s, (self.shape[0] * self.shape[1], self.shape[2]))

    def _conditions(self, key: Expr | int) -> list[Expr]:
        """Which scores count: of keys that exist, and that the query may see."""
        p, step = self.p, extent_of(self.keys)
        if self.causal:
            # Keys beyond the last are after every query that exists.
            shift = dim_add(self.tile.starts[2], dim_sub(self.extent, self.queries))
            rows = self._moved(self._ramp((1, self.shape[1], 1), 1), shift)
            return [p.binary(BinaryKind.LE, self._columns(key), rows)]
        if isinstance(self.extent, int) and self.extent % step == 0:
            return []
        return [p.binary(BinaryKind.LT, self._columns(key), self._scalar(self.extent))]

    def _columns(self, key: Expr | int) -> Expr:
        return self._moved(self._ramp((1, 1, self.shape[2]), 2), key)

    def _ramp(self, shape: tuple[int, int, int], axis: int) -> Expr:
        p = self.p
        ramp = p.reshape(p.call(Arange(make_tensor_type((shape[axis],), "i32"))), shape)
        return self.tile.placed(p, ramp, *(modes if k == axis else () for k, modes in enumerate(self.axes)))

    def _moved(self, ramp: Expr, by: Dim) -> Expr:
        return ramp if by == 0 else self.p.add(ramp, self._scalar(by))

    def _scalar(self, value: Dim) -> Expr:
        if isinstance(value, int):
            return Constant(value, TensorType.umat_scalar(DType.i32))
        return self.p.call(Cast(DType.i32), value)

    def _mask(self, mask: Expr, key: Expr | int) -> Expr:
        """The part of the mask for these scores; an axis of extent 1 is the same for all."""
        if is_scalar(mask):
            return mask
        p, shape = self.p, tensor_type(mask).shape
        if tensor_type(mask).storage is not StorageKind.GMEM:
            return self._whole_mask(mask)
        lacks = 4 - len(shape)
        at = (*self.tile.starts[:3], key)
        sizes = (1, *self.shape)
        once = [extent == 1 for extent in shape]
        starts = [0 if one else at[lacks + k] for k, one in enumerate(once)]
        box = [1 if one else sizes[lacks + k] for k, one in enumerate(once)]
        drop = (0,) if lacks == 0 else ()
        part = window(p, mask, starts, box, drop)
        own = max(lacks, 1)
        return self._spread(part, tuple(box[len(drop) :]), own)

    def _spread(self, part: Expr, box: tuple[int, ...], first: int) -> Expr:
        modes = [() if extent == 1 else self.axes[first - 1 + k] for k, extent in enumerate(box)]
        return self.tile.placed(self.p, part, *modes)

    def _whole_mask(self, mask: Expr) -> Expr:
        """A mask that is a tile or a fragment already: its batch axis has extent 1."""
        shape = tensor_type(mask).shape[-3:]
        flat = self.p.reshape(mask, shape)
        if tensor_type(mask).storage is StorageKind.RMEM:
            return flat
        return self._spread(flat, tuple(e for e in shape if isinstance(e, int)), 4 - len(shape))
