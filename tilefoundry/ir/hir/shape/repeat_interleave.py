"""RepeatInterleave: each element several times in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_mul
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import normalize_axis, tensor_operand
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.types import TensorType


@register_op(category="shape", name="repeat_interleave")
@dataclass(frozen=True, slots=True)
class RepeatInterleave(Op):
    """Each element of `x` `repeats` times in a row along `axis`, as ``torch.repeat_interleave`` with a number.

    Shapes: x (*A, N, *B) -> (*A, N * repeats, *B)

    A sharded operand is refused, in whatever state it is.
    """

    x: ClassVar[ParamDef] = ParamDef()
    repeats: int
    axis: int

    def __post_init__(self) -> None:
        plain_int("repeat_interleave", "axis", self.axis)
        if plain_int("repeat_interleave", "repeats", self.repeats) < 0:
            raise WrongValueError(
                f"repeat_interleave: repeats must not be negative, got {self.repeats}", remedy="write 0 or more"
            )

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape of `x` with the extent of `axis` times `repeats`."""
        t = tensor_operand(ctx, "x", x)
        axis = normalize_axis(self.axis, t.rank)
        if isinstance(t.layout, ShardLayout):
            ctx.error(
                "'x' is spread over a mesh, and repeated elements would have other owners",
                "repeat before tf.reshard, or tf.unsqueeze and tf.expand it, which moves nothing",
            )
        shape = tuple(dim_mul(e, self.repeats) if k == axis else e for k, e in enumerate(t.shape))
        labels = tuple(None if k == axis else k for k in range(t.rank))
        layout = propagate(ctx, (Placed("x", t, labels),), labels, shape, t.storage)
        return TensorType(shape, t.dtype, layout, t.storage)
