"""Matrix product of the parts that each instance holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.shard import ShardLayout, format_int_tuple, group_modes, shard_layout_local_shape
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import same_dtype, tensor, written
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType


@register_op(dialect="T", category="matrix", name="local_matmul")
@dataclass(frozen=True, slots=True)
class LocalMatmul(EffectOp):
    """``LocalMatmul()(acc, lhs, rhs)``: acc += lhs @ rhs, of what each instance holds of three register fragments.

    ``lhs`` (..., M, K), ``rhs`` (..., K, N) and ``acc`` (..., M, N) agree in their leading axes. Where K is split over
    instances, each of these gets its own term of the sum.
    """

    acc: ClassVar[ParamDef] = ParamDef()
    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0, 1, 2)
    writes: ClassVar[tuple[int, ...]] = (0,)

    def check(self, ctx: TypeContext, acc: Expr, lhs: Expr, rhs: Expr) -> None:  # type: ignore[override]
        """Fragments whose parts multiply."""
        types = written(ctx, "acc", acc), tensor(ctx, "lhs", lhs), tensor(ctx, "rhs", rhs)
        named = tuple(zip(("acc", "lhs", "rhs"), types, strict=True))
        c, a, b = (_part(ctx, name, type_) for name, type_ in named)
        same_dtype(ctx, "lhs", types[1].dtype, "rhs", types[2].dtype)
        expected = ((*a[:-2], a[-2], b[-1]), (*a[:-2], a[-1], b[-1]))
        if not all(len(x) == len(y) and all(map(dim_equal, x, y)) for x, y in zip((c, b), expected, strict=True)):
            ctx.error(
                f"each instance holds {format_int_tuple(a)} @ {format_int_tuple(b)}, which do not give "
                f"{format_int_tuple(c)}",
                "give a (..., M, K), b (..., K, N) and acc (..., M, N) the same factors on the axes that they share",
            )


def _part(ctx: TypeContext, name: str, type_: TensorType) -> tuple[ShapeDim, ...]:
    """How many elements an instance holds along each axis."""
    layout = type_.layout
    if type_.storage is StorageKind.RMEM and type_.rank >= 2 and isinstance(layout, ShardLayout):
        groups, local = group_modes(layout.shape, type_.shape), shard_layout_local_shape(layout)
        if groups is not None:
            return tuple(dim_product(local[mode] for mode in group) for group in groups)
    ctx.error(
        f"'{name}' must be a matrix in registers whose modes are factors of its axes, got {type_}",
        "allocate it with a layout over the thread mesh: (4 @ m.w, 2, 32 @ m.l)",
    )
