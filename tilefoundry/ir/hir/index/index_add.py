"""IndexAdd: rows added to rows of a tensor, by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.index.operands import added_number, row_update
from tilefoundry.ir.types import TensorType


@register_op(category="index", name="index_add")
@dataclass(frozen=True, slots=True)
class IndexAdd(Op):
    """`dst` with row k of `src` along axis `dim` added to row ``index[k]``, for each k, as ``torch.index_add``.

    Shapes: dst (*A, N, *B), index (K), src (*A, K, *B) -> (*A, N, *B)

    `src` has the shape of `dst` with the extent of `index` (rank 1, i32 or i64) at `dim`. Indices are checked when the
    program runs: 0 <= index < extent. In f16 and bf16 each addition rounds; in which order rows are added is open.

    Placement: axis `dim` is whole, `src` lies as `dst` along others, `index` is whole. Partial: none.
    """

    dst: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    src: ClassVar[ParamDef] = ParamDef()
    dim: int

    def __post_init__(self) -> None:
        plain_int("index_add", "dim", self.dim)

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, dst: Expr | int, index: Expr | int, src: Expr | int
    ) -> TensorType:
        """The type of `dst`."""
        result = row_update(ctx, dst, index, src, self.dim)
        added_number(ctx, result.dtype)
        return result
