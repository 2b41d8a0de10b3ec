"""What placement knows of an op: what a tile of its value needs of its operands."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import (
    Arange,
    ArgMax,
    ArgMin,
    Attention,
    Binary,
    CacheUpdate,
    Cast,
    Clamp,
    Concat,
    Conv2d,
    CumSum,
    Expand,
    Flip,
    FullLike,
    Gather,
    Gelu,
    IndexAdd,
    IndexCopy,
    IndexSelect,
    InsertSlice,
    LayerNorm,
    MatMul,
    MmaSm80,
    Pad,
    Quant,
    Reduce,
    RepeatInterleave,
    Reshape,
    RMSNorm,
    Rope,
    ScatterAdd,
    Silu,
    Slice,
    Softmax,
    Softplus,
    Sort,
    SplitParts,
    Squeeze,
    Stack,
    TopK,
    Transpose,
    TupleGetItem,
    Unary,
    Unsqueeze,
    WgmmaSm90,
    Where,
    Zeros,
)
from tilefoundry.ir.types import TensorType

# A tile of the value needs the same tile of each operand.
ELEMENTWISE: tuple[type[Op], ...] = (Binary, Cast, Clamp, FullLike, Gelu, Silu, Softplus, Unary, Where)
# It needs whole axes of an operand, and has these axes itself, perhaps of extent 1.
NORMS: tuple[type[Op], ...] = (LayerNorm, RMSNorm, Softmax)
# The same, and costs too much to be computed twice or inside of something else.
SEARCHES: tuple[type[Op], ...] = (ArgMax, ArgMin, CumSum, Quant, Sort, TopK)
# It needs much more of the operands, and computes with each element of these many times.
HEAVY: tuple[type[Op], ...] = (Attention, Conv2d, MatMul, MmaSm80, Rope, WgmmaSm90)
# All CTAs write it at once, from operands as they lie in memory.
DIRECT: tuple[type[Op], ...] = (
    *(Arange, CacheUpdate, Concat, Flip, Gather, IndexAdd, IndexCopy, IndexSelect, InsertSlice, Pad),
    *(RepeatInterleave, ScatterAdd, Stack, Zeros),
)
# It is the same elements in another order.
VIEWS: tuple[type[Op], ...] = (Expand, Reshape, Slice, SplitParts, Squeeze, Transpose, TupleGetItem, Unsqueeze)


def tensor(value: Expr | int) -> TensorType:
    """The type of a tensor."""
    assert isinstance(value, Expr) and isinstance(value.type, TensorType)
    return value.type


def producer(value: Expr) -> Call | None:
    """The call of an op that computes a value; of one of several, the call that has them all."""
    while isinstance(value, Call) and isinstance(value.target, TupleGetItem) and isinstance(value.args[0], Call):
        value = value.args[0]
    return value if isinstance(value, Call) and isinstance(value.target, Op) else None


def whole_axes(call: Call) -> frozenset[int]:
    """The axes of the first operand, counted from the end, that the value needs whole; nothing for elementwise ops."""
    operand = call.args[0] if call.args else None
    if not isinstance(operand, Expr) or isinstance(operand.type, TupleType) or not isinstance(operand.type, TensorType):
        return frozenset()
    rank = operand.type.rank
    match call.target:
        case Reduce(axes=axes):
            chosen = tuple(axes)
        case LayerNorm(axis=axis):
            chosen = tuple(range(axis % rank, rank))
        case RMSNorm() | Quant():
            chosen = (-1,)
        case Softmax(axis=axis) | ArgMax(axis=axis) | ArgMin(axis=axis) | CumSum(axis=axis) | Sort(axis=axis):
            chosen = (axis,)
        case TopK(axis=axis):
            chosen = (axis,)
        case _:
            return frozenset()
    return frozenset(axis % rank - rank for axis in chosen)
