"""The loop over the keys of a tile of queries, with the softmax carried from one tile of keys to the next.

Online softmax after Milakov and Gimelshein (arXiv:1805.02867), in the loop order of FlashAttention-2 (Dao, 2023). The
greatest score, the sum of the weights and the weighted values stay in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import (
    BinaryKind,
    FullLike,
    GridRegionExpr,
    MatMul,
    ReduceKind,
    Reshard,
    Transpose,
    TupleGetItem,
    UnaryKind,
    Zeros,
)
from tilefoundry.ir.shard import Mesh, row_major
from tilefoundry.ir.types import DType, StorageKind, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype
from tilefoundry.passes.lower.fragments import Modes, extent_of, spread_over

_MASKED = -math.inf


@dataclass(frozen=True, slots=True)
class Attending:
    """A tile of queries: how the matrices are spread over the mesh, and how scores become exponents of two.

    Attributes:
        queries: the tile of queries, in shared memory.
        rows, keys, columns: the modes of the queries, of the keys of one step, and of the width of the values.
        exponents: from a product of queries and keys, and the first of the keys, what powers of two are taken of.
    """

    p: Primitives
    mesh: Mesh
    queries: Expr
    rows: Modes
    keys: Modes
    columns: Modes
    exponents: Callable[[Expr, Expr | int], Expr]

    @property
    def _dtype(self) -> DType:
        return tensor_type(self.queries).dtype

    def at_once(self, keys: Expr, values: Expr) -> Expr:
        """The result where one tile holds all keys."""
        nothing = self._filled(_MASKED)
        _, total, weighed = self._step(0, keys, values, (nothing, None, None))
        return self._result(total, weighed)

    def over(self, extent: Dim, load: Callable[[Expr], tuple[Expr, Expr]]) -> Expr:
        """The result of a loop over keys up to `extent`; `load` gives the tiles of keys and values from a key on."""
        p = self.p
        key = Var("j", INDEX_TYPE)
        inits = (self._filled(_MASKED), self._filled(0.0), self._zeros((self.rows, self.columns)))
        m, l, o = (Var(name, init.type) for name, init in zip(("m", "l", "o"), inits, strict=True))  # noqa: E741
        new = self._step(key, *load(key), (m, l, o))
        loop = GridRegionExpr(key, (m, l, o), inits, None, new, extent, extent_of(self.keys))
        total, weighed = (p.call(TupleGetItem(k), loop) for k in (1, 2))
        return self._result(total, weighed)

    def _step(
        self, key: Expr | int, keys: Expr, values: Expr, old: tuple[Expr, Expr | None, Expr | None]
    ) -> tuple[Expr, Expr, Expr]:
        p = self.p
        products = self._product(self.queries, p.call(Transpose((1, 0)), keys), (self.rows, self.keys))
        s = self.exponents(products, key)
        greatest, total, weighed = old
        new = p.binary(BinaryKind.MAX, greatest, p.reduce(ReduceKind.MAX, s, (-1,)))
        # A row that has seen no key yet: its exponents are all -inf, and so is the greatest.
        base = p.where(p.binary(BinaryKind.EQ, new, _MASKED), 0.0, new)
        weights = p.unary(UnaryKind.EXP2, p.sub(s, base))
        added = p.reduce(ReduceKind.SUM, weights, (-1,))
        shape = (extent_of(self.rows), extent_of(self.keys))
        staged = p.call(Reshard(row_major(shape), StorageKind.SMEM), p.cast(weights, self._dtype))
        part = self._product(staged, values, (self.rows, self.columns))
        if total is None or weighed is None:
            return new, added, part
        alpha = p.unary(UnaryKind.EXP2, p.sub(greatest, base))
        return new, p.add(p.mul(total, alpha), added), p.add(p.mul(weighed, alpha), part)

    def _result(self, total: Expr, weighed: Expr) -> Expr:
        p = self.p
        # Queries that attend to nothing give zeros.
        divisor = p.where(p.binary(BinaryKind.EQ, total, 0.0), 1.0, total)
        return p.cast(p.div(weighed, divisor), self._dtype)

    def _product(self, lhs: Expr, rhs: Expr, axes: tuple[Modes, Modes]) -> Call:
        product = self.p.call(MatMul(compute_dtype(self._dtype)), lhs, rhs)
        return self.p.call(Reshard(spread_over(self.mesh, *axes), StorageKind.RMEM), product)

    def _zeros(self, axes: tuple[Modes, Modes]) -> Call:
        shape = tuple(map(extent_of, axes))
        zeros = self.p.call(Zeros(make_tensor_type(shape, compute_dtype(self._dtype))))
        return self.p.call(Reshard(spread_over(self.mesh, *axes), StorageKind.RMEM), zeros)

    def _filled(self, value: float) -> Call:
        """A number for each query."""
        return self.p.call(FullLike(value), self._zeros((self.rows, ())))
