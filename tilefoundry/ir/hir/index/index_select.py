"""IndexSelect: rows of a tensor, by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import merge_storage, normalize_axis, tensor_operand
from tilefoundry.ir.hir.index.operands import index_operand, summed_number
from tilefoundry.ir.hir.movement import carried
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="index", name="index_select")
@dataclass(frozen=True, slots=True)
class IndexSelect(Op):
    """``x[..., index, ...]`` along axis `dim`, as ``torch.index_select``; `index` has rank 1, of i32 or i64.

    Shapes: x (*A, N, *B), index (K) -> (*A, K, *B)

    Indices are checked when the program runs: 0 <= index < extent. Placement: axis `dim` of the result lies as `index`,
    others as those of `x`. Where `x` is split along `dim`, each unit gives the rows that it holds and zero elsewhere:
    Partial("sum"). Partial: that of `x` is carried, with `index` replicated.
    """

    x: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    dim: int

    def __post_init__(self) -> None:
        plain_int("index_select", "dim", self.dim)

    def type_rule(self, ctx: TypeContext, x: Expr | int, index: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape of `x` with the extent of `index` at `dim`."""
        t = tensor_operand(ctx, "x", x)
        i = index_operand(ctx, index, 1)
        dim = normalize_axis(self.dim, t.rank)
        summed_number(ctx, t, dim)
        own = tuple(range(t.rank))
        labels = (*own[:dim], t.rank, *own[dim + 1 :])
        shape = (*t.shape[:dim], i.shape[0], *t.shape[dim + 1 :])
        storage = merge_storage(ctx, (t, i))
        operands = (Placed("x", t, own), Placed("index", i, (t.rank,)))
        layout = propagate(ctx, operands, labels, shape, storage, partial_rule=carried, reduced_is_partial=True)
        return TensorType(shape, t.dtype, layout, storage)
