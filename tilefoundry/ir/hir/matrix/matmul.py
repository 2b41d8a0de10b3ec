"""MatMul: matrix product over the last two axes, batched over the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.common import broadcast_shapes, common_dtype, is_literal, merge_storage, tensor_operand
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import Broadcast, Partial, ShardAttr
from tilefoundry.ir.types import BoolDType, DType, TensorType, resolve_dtype


@register_op(category="matrix")
@dataclass(frozen=True, slots=True)
class MatMul(Op):
    """``lhs @ rhs``: the matrix product over the last two axes; leading axes broadcast.

    Shapes: lhs (*A, M, K), rhs (*B, K, N) -> (*broadcast(A, B), M, N)

    Attributes:
        out_dtype: exact products, accumulation and result in this dtype (a DType or its name), as ``torch.mm``'s
            argument of that name; None: the operands' dtype, accumulated as the target does best.

    A K that is split over mesh axes on both sides gives Partial("sum") along them.
    """

    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()
    out_dtype: DType | None = None

    def __post_init__(self) -> None:
        if self.out_dtype is not None:
            object.__setattr__(self, "out_dtype", resolve_dtype(self.out_dtype))

    def type_rule(self, ctx: TypeContext, lhs: Expr | int, rhs: Expr | int) -> TensorType:  # type: ignore[override]
        """Shape (..., M, N); placement of M from `lhs`, of N from `rhs`."""
        a, b = tensor_operand(ctx, "lhs", lhs), tensor_operand(ctx, "rhs", rhs)
        for name, operand, t in (("lhs", lhs, a), ("rhs", rhs, b)):
            if is_literal(operand) or t.rank < 2:
                ctx.error(f"'{name}' must have rank 2 or more, got {t}", "reshape a vector to (1, K) or (K, 1)")
        dtype = common_dtype(ctx, (("lhs", lhs), ("rhs", rhs)))
        if isinstance(dtype, BoolDType):
            ctx.error("does not accept bool operands", "cast them to a number type")
        k, k_rhs = a.shape[-1], b.shape[-2]
        if not dim_equal(k, k_rhs):
            static = isinstance(k, int) and isinstance(k_rhs, int)
            reason = (
                f"{k} and {k_rhs} differ" if static else f"cannot prove that {format_dim(k)} equals {format_dim(k_rhs)}"
            )
            ctx.error(f"the inner extents of {a} and {b} must agree: {reason}", "transpose an operand")
        result = self.out_dtype if self.out_dtype is not None else dtype
        if result.is_float != dtype.is_float or result.bits < dtype.bits:
            ctx.error(f"out_dtype {result} cannot hold products of {dtype}", "use a wider dtype of the same kind")
        batches = [TensorType(t.shape[:-2], t.dtype, None, t.storage) for t in (a, b)]
        batch = broadcast_shapes(ctx, batches)
        shape = (*batch, a.shape[-2], b.shape[-1])
        # dimensions of the iteration: the batch axes, then M, N, K
        n = len(batch)

        def batch_labels(t: TensorType) -> tuple[int | None, ...]:
            first = n - (t.rank - 2)
            return tuple(None if e == 1 != batch[first + i] else first + i for i, e in enumerate(t.shape[:-2]))

        storage = merge_storage(ctx, (a, b))
        operands = (
            Placed("lhs", a, (*batch_labels(a), n, n + 2)),
            Placed("rhs", b, (*batch_labels(b), n + 2, n + 1)),
        )
        layout = propagate(
            ctx, operands, tuple(range(n + 2)), shape, storage, partial_rule=_partial, reduced_is_partial=True
        )
        return TensorType(shape, result, layout, storage)


def _partial(states: Sequence[ShardAttr]) -> Partial | None:
    """One sum with the other operand replicated."""
    lhs, rhs = states
    for held, other in ((lhs, rhs), (rhs, lhs)):
        if held == Partial("sum") and isinstance(other, Broadcast):
            return Partial("sum")
    return None
