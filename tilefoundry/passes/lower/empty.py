"""Values without elements: they take no storage and no code, and what is computed from them alone is one number.

An extent that is 0 when the program is compiled never reaches a rule as the extent of a tensor: the calls whose values
are empty are not lowered at all, and those that read something empty become what is left of them. Extents that are 0
only when the kernel runs are those of windows of global memory, which bound themselves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import (
    Attention,
    CacheUpdate,
    Gather,
    IndexAdd,
    IndexCopy,
    IndexSelect,
    InsertSlice,
    MatMul,
    Reduce,
    ReduceKind,
    ScatterAdd,
    Slice,
)
from tilefoundry.ir.types import DType, IntegerDType, StorageKind, TensorType, TupleType
from tilefoundry.ir.types.limits import largest_finite
from tilefoundry.passes.lower.values import Parts, Uniform, Value

if TYPE_CHECKING:
    from tilefoundry.passes.lower.context import Lowering

EMPTY = Uniform(0)  # the same number in all of no elements

# By op: which operand it writes into which other one.
_UPDATES: dict[type[Op], tuple[int, int]] = {
    CacheUpdate: (3, 0),
    IndexAdd: (2, 0),
    IndexCopy: (2, 0),
    InsertSlice: (1, 0),
    ScatterAdd: (2, 0),
}


def is_empty(expr: object) -> bool:
    """Whether a value is a tensor that has no elements, whatever the launch."""
    return isinstance(expr, Expr) and isinstance(expr.type, TensorType) and _has_no_element(expr.type)


def without_empty_updates(expr: Expr) -> Expr:
    """``expr`` without the updates of it that write nothing."""
    while isinstance(expr, Call) and (roles := _UPDATES.get(type(expr.target))) is not None:  # type: ignore[arg-type]
        source, target = (expr.args[role] for role in roles)
        if not is_empty(source) or not isinstance(target, Expr):
            break
        expr = target
    return expr


def without_elements(ctx: Lowering, call: Call) -> Value | None:
    """The value of a call that is empty, or that reads something empty and needs no rule for it; None for others."""
    if is_empty(call):
        return EMPTY
    if isinstance(call.type, TupleType):
        fields = call.type.fields
        empty = all(isinstance(field, TensorType) and _has_no_element(field) for field in fields)
        return Parts((EMPTY,) * len(fields)) if fields and empty else None
    if not any(map(is_empty, call.args)):
        return None
    if (left := without_empty_updates(call)) is not call:
        return ctx.lower(left)
    type_ = call.type
    assert isinstance(type_, TensorType)
    match call.target:
        case Reduce(kind=kind):
            return _everywhere(ctx, call, identity(kind, type_.dtype))
        case MatMul() if type_.storage is not StorageKind.RMEM:
            return EMPTY  # a sum over nothing, accumulated where it is placed
        case MatMul():
            return _everywhere(ctx, call, 0)
        case Attention() if _shape(call.args[1])[2] == 0:
            return _everywhere(ctx, call, 0)  # of no keys
        case Slice(sizes=sizes, boundary=boundary):
            for axis, (extent, size, rule) in enumerate(zip(_shape(call.args[0]), sizes, boundary, strict=True)):
                if extent == 0 and size != 0 and rule == "error":
                    _refuse_read(ctx, call, axis)
            return _everywhere(ctx, call, 0)  # zero lies beyond the extents
        case IndexSelect(dim=axis) | Gather(dim=axis):
            _refuse_read(ctx, call, axis % len(_shape(call.args[0])))
    return None


def identity(kind: ReduceKind, dtype: DType) -> float | int | bool:
    """What a reduction gives over no elements: what changes nothing, and for a mean NaN."""
    match kind:
        case ReduceKind.PROD:
            return 1
        case ReduceKind.ALL | ReduceKind.ANY:
            return kind is ReduceKind.ALL
        case ReduceKind.MEAN:
            return math.nan
        case ReduceKind.MAX:
            return _extreme(dtype, -1)
        case ReduceKind.MIN:
            return _extreme(dtype, 1)
    return 0


def _extreme(dtype: DType, sign: int) -> float | int:
    if isinstance(dtype, IntegerDType):
        return dtype.range[sign > 0]
    return sign * (largest_finite(dtype) if dtype is DType.fp8e4m3 else math.inf)


def _everywhere(ctx: Lowering, call: Call, number: float | int | bool) -> Value:
    """One number where the type of the call says that it lies."""
    from tilefoundry.passes.lower.shape.join import joined
    from tilefoundry.passes.lower.shape.place import number_of

    type_ = call.type
    assert isinstance(type_, TensorType)
    if not type_.shape:
        return Constant(number_of(number, type_.dtype), TensorType.umat_scalar(type_.dtype))
    return joined(ctx, call, Uniform(number))


def _refuse_read(ctx: Lowering, call: Call, axis: int) -> NoReturn:
    name = getattr(call.target, "op_name", "")
    ctx.refuse(
        call,
        f"tf.{name} reads elements along axis {axis} of a tensor of shape {_shape(call.args[0])}, which has none there",
        remedy="give the axis an extent of 1 or more, or take nothing from it",
    )


def _has_no_element(type_: TensorType) -> bool:
    return any(isinstance(extent, int) and extent == 0 for extent in type_.shape)


def _shape(operand: Expr | int) -> tuple[object, ...]:
    assert isinstance(operand, Expr) and isinstance(operand.type, TensorType)
    return operand.type.shape
