"""What the type rules share: operand types, axes, storage, broadcasting, literals."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import format_int_tuple
from tilefoundry.ir.types import INDEX_TYPE, DType, StorageKind, TensorType


def tensor_operand(ctx: TypeContext, name: str, operand: Expr | int) -> TensorType:
    """The type of an operand, which must be a tensor; a plain int is an index."""
    if isinstance(operand, int):
        return INDEX_TYPE
    if not isinstance(operand.type, TensorType):
        ctx.error(f"operand '{name}' must be a tensor, got {operand.type}", "take one element of the tuple")
    return operand.type


def float_operand(ctx: TypeContext, name: str, operand: Expr | int) -> TensorType:
    """The type of an operand that must be a tensor of f64, f32, f16 or bf16."""
    t = tensor_operand(ctx, name, operand)
    if not t.dtype.is_float or t.dtype.bits < 16:
        ctx.error(f"'{name}' must be of f16, bf16, f32 or f64, got {t.dtype}", f'cast it first, tf.cast({name}, "f32")')
    return t


def real_attribute(op: str, name: str, value: object) -> float | int:
    """A number that an op is given when the program is written.

    Raises:
        WrongTypeError: no int or float, or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise WrongTypeError(f"{op}: {name} must be a number, got {value!r}", remedy="write a Python number")
    return value


def bool_attribute(op: str, name: str, value: object) -> bool:
    """True or False, given when the program is written. Raises WrongTypeError."""
    if not isinstance(value, bool):
        raise WrongTypeError(f"{op}: {name} must be a bool, got {value!r}", remedy="write True or False")
    return value


def normalize_axis(axis: int, rank: int) -> int:
    """A non-negative axis, counted from the end when it is negative.

    Raises:
        WrongTypeError: not a plain int.
        WrongValueError: outside [-rank, rank).
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise WrongTypeError(f"an axis must be a plain int, got {axis!r}", remedy="write an int, -1 for the last axis")
    if not -rank <= axis < rank:
        raise WrongValueError(f"axis {axis} is out of range for rank {rank}", remedy=f"use -{rank} <= axis < {rank}")
    return axis % rank


def normalize_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Non-negative axes, ascending.

    Raises:
        WrongTypeError, WrongValueError: as `normalize_axis`, or an axis occurs twice.
    """
    result = sorted(normalize_axis(axis, rank) for axis in axes)
    if len(set(result)) != len(result):
        raise WrongValueError(f"axes {tuple(axes)} name one axis twice", remedy="name each axis once")
    return tuple(result)


def merge_storage(ctx: TypeContext, types: Sequence[TensorType]) -> StorageKind:
    """The storage of the result: concrete storages must agree; umat abstains, and so does a scalar beside a tensor.

    A rank-0 parameter reaches every instance by value, whatever memory it is declared in.
    """
    tensors = [t for t in types if t.rank] or types
    concrete = sorted({t.storage for t in tensors} - {StorageKind.UMAT})
    if len(concrete) > 1:
        ctx.error(
            f"operands have conflicting storage: {', '.join(map(str, concrete))}",
            "tf.reshard one of them, so that both lie in one memory",
        )
    return concrete[0] if concrete else StorageKind.UMAT


def broadcast_shapes(ctx: TypeContext, types: Sequence[TensorType]) -> tuple[Dim, ...]:
    """The right-aligned broadcast of the operands' shapes."""
    rank = max(t.rank for t in types)
    result: list[Dim] = []
    for axis in range(rank):
        extent: Dim = 1
        for t in types:
            own = axis - (rank - t.rank)
            if own < 0 or t.shape[own] == 1:
                continue
            if extent != 1 and not dim_equal(extent, t.shape[own]):
                both_static = isinstance(extent, int) and isinstance(t.shape[own], int)
                shapes = " and ".join(format_int_tuple(u.shape) for u in types)
                reason = (
                    f"{extent} and {t.shape[own]} differ"
                    if both_static
                    else f"cannot prove that {format_dim(extent)} equals {format_dim(t.shape[own])}"
                )
                ctx.error(
                    f"shapes {shapes} do not broadcast: {reason} at axis {axis - rank}",
                    remedy="make the extents equal, or one of them 1: tf.reshape, tf.expand",
                )
            extent = t.shape[own]
        result.append(extent)
    return tuple(result)


def is_literal(operand: Expr | int) -> bool:
    """Whether an operand is a number written in the program, whose dtype follows the other operand."""
    return (
        isinstance(operand, Constant)
        and isinstance(operand.type, TensorType)
        and operand.type.storage is StorageKind.UMAT
    )


def common_dtype(ctx: TypeContext, operands: Sequence[tuple[str, Expr | int]]) -> DType:
    """The one dtype of the operands. dtypes never promote; a literal adopts the dtype of what is no literal.

    A float literal adopts a float dtype, an int literal an integer dtype that holds it.
    """
    types = [(name, operand, tensor_operand(ctx, name, operand)) for name, operand in operands]
    firm = [(name, t.dtype) for name, operand, t in types if not is_literal(operand)]
    chosen = firm[0][1] if firm else types[0][2].dtype
    for name, dtype in firm:
        if dtype != chosen:
            ctx.error(
                f"operands '{firm[0][0]}' and '{name}' have dtypes {chosen} and {dtype}; dtypes never promote",
                f'cast one of them, tf.cast({name}, "{chosen}")',
            )
    for name, operand, t in types:
        if is_literal(operand) and t.dtype != chosen:
            assert isinstance(operand, Constant)
            _adopt(ctx, name, operand.value, chosen)
    return chosen


def _adopt(ctx: TypeContext, name: str, value: bool | float, dtype: DType) -> None:
    if isinstance(value, float) and dtype.is_float:
        return
    if isinstance(value, int) and not isinstance(value, bool) and dtype.is_integer:
        low, high = dtype.range
        if low <= value <= high:
            return
        ctx.error(
            f"literal {value} does not fit {dtype}, which holds {low}..{high}",
            remedy=f"use a number that {dtype} holds, or a wider dtype",
        )
    remedy = f"write {float(value)}" if dtype.is_float else f"use a literal of kind {dtype}"
    ctx.error(f"literal {value!r} for '{name}' does not adopt the dtype {dtype} of the other operand", remedy)


def index_scalar(ctx: TypeContext, what: str, operand: Expr | int) -> None:
    """Refuses anything but a plain int or a rank-0 integer."""
    t = tensor_operand(ctx, what, operand)
    if t.shape or not t.dtype.is_integer:
        ctx.error(
            f"{what} must be a scalar integer, got {t}", remedy="use an int, a loop variable or a rank-0 integer tensor"
        )
