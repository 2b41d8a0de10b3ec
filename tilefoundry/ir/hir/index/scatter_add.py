"""ScatterAdd: elements added at positions given by number along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import common_dtype, merge_storage, normalize_axis, tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.extents import at_most
from tilefoundry.ir.hir.index.operands import added_number, index_operand
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.propagate import Label, Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="index", name="scatter_add")
@dataclass(frozen=True, slots=True)
class ScatterAdd(Op):
    """`dst` with ``src[i][j][k]`` added to ``dst[i][index[i][j][k]][k]`` for ``dim=1``, as ``torch.scatter_add``.

    Shapes: dst (*A), index (*I), src (*S) -> A

    All three have one rank; `index` (i32 or i64) has at most the extents of `src`, and along axes other than `dim` at
    most those of `dst`. Indices are checked when the program runs: 0 <= index < extent. In f16 and bf16 each addition
    rounds; in which order elements are added is open.

    Placement: axis `dim` is whole, and so is an axis along which the extents differ; along others all lie alike.
    Partial: none.
    """

    dst: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    src: ClassVar[ParamDef] = ParamDef()
    dim: int

    def __post_init__(self) -> None:
        plain_int("scatter_add", "dim", self.dim)

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, dst: Expr | int, index: Expr | int, src: Expr | int
    ) -> TensorType:
        """The type of `dst`."""
        t, s = tensor_operand(ctx, "dst", dst), tensor_operand(ctx, "src", src)
        added_number(ctx, common_dtype(ctx, (("dst", dst), ("src", src))))
        dim = normalize_axis(self.dim, t.rank)
        i = index_operand(ctx, index, t.rank)
        if s.rank != t.rank:
            ctx.error(f"'src' must have rank {t.rank}, got {s}", "tf.reshape it")
        operands = (("dst", t), ("index", i), ("src", s))
        labels: list[Label] = []
        for axis in range(t.rank):
            extent = i.shape[axis]
            at_most(
                ctx, f"the extent of 'index' along axis {axis}", extent, s.shape[axis], "give 'src' as many elements"
            )
            if axis != dim:
                at_most(ctx, f"the extent of 'index' along axis {axis}", extent, t.shape[axis])
            alike = axis != dim and dim_equal(extent, s.shape[axis]) and dim_equal(extent, t.shape[axis])
            labels.append(axis if alike else None)
            if not alike:
                for name, operand in operands:
                    whole_axis(ctx, name, operand, axis, "written in parts")
        storage = merge_storage(ctx, (t, i, s))
        propagate(ctx, [Placed(name, o, tuple(labels)) for name, o in operands], labels, t.shape, storage, alike=True)
        return identity_type(ctx, t, ())
