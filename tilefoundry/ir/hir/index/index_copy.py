"""IndexCopy: rows of a tensor replaced, by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.index.operands import row_update
from tilefoundry.ir.types import TensorType


@register_op(category="index", name="index_copy")
@dataclass(frozen=True, slots=True)
class IndexCopy(Op):
    """`dst` with row k of `src` along axis `dim` in place of row ``index[k]``, for each k, as ``torch.index_copy``.

    Shapes: dst (*A, N, *B), index (K), src (*A, K, *B) -> (*A, N, *B)

    `src` has the shape of `dst` with the extent of `index` (rank 1, i32 or i64) at `dim`. Indices are checked when the
    program runs: 0 <= index < extent. Where an index occurs twice it is open which row is written.

    Placement: axis `dim` is whole, `src` lies as `dst` along others, `index` is whole. Partial: none.
    """

    dst: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    src: ClassVar[ParamDef] = ParamDef()
    dim: int

    def __post_init__(self) -> None:
        plain_int("index_copy", "dim", self.dim)

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, dst: Expr | int, index: Expr | int, src: Expr | int
    ) -> TensorType:
        """The type of `dst`."""
        return row_update(ctx, dst, index, src, self.dim)
