"""Local: the part of a sharded tensor that one unit holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.hir.shape.reshape import view_strides
from tilefoundry.ir.shard import Dynamic, Layout, ShardLayout, format_int_tuple, group_modes, shard_layout_local_shape
from tilefoundry.ir.types import TensorType


@register_op(category="shard")
@dataclass(frozen=True, slots=True)
class Local(Op):
    """This unit's part of `x`: split modes are contracted, the shard layout is gone.

    Shapes: x (*A) -> tuple(n // u for n, u in zip(A, units))

    `units` are those among which the mesh splits each axis.
    """

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The local extents of each axis, with one stride where that steps through its modes, else theirs."""
        t = tensor_operand(ctx, "x", x)
        sl = t.layout
        if not isinstance(sl, ShardLayout):
            ctx.error(f"expected a tensor that is spread over a mesh, got {t}", "tf.reshard it over a mesh first")
        if any(isinstance(a, Dynamic) for a in sl.attrs):
            ctx.error(
                "the placement is Dynamic, so the local part is unknown", "tf.reshard it to a known placement first"
            )
        local = shard_layout_local_shape(sl, require_static=False)
        groups = group_modes(sl.shape, t.shape)
        if groups is None:
            ctx.error(
                f"modes {format_int_tuple(sl.layout.shape)} straddle the axes {format_int_tuple(t.shape)}",
                "tf.reshard it, each axis factored on its own",
            )
        shape = tuple(dim_product(local[k] for k in group) for group in groups)
        strides = sl.layout.strides
        if strides is None:
            return TensorType(shape, t.dtype, fresh_plain(shape, t.storage), t.storage)
        axes = [Layout(tuple(local[k] for k in g), tuple(strides[k] for k in g)) for g in groups]
        steps = [view_strides(axis, (extent,)) for axis, extent in zip(axes, shape, strict=True)]
        return TensorType(
            shape,
            t.dtype,
            Layout(
                tuple(a.shape if s is None else e for a, s, e in zip(axes, steps, shape, strict=True)),
                tuple(a.strides if s is None else s[0] for a, s in zip(axes, steps, strict=True)),
            ),
            t.storage,
        )
