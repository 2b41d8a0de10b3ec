"""What the rules of TIR ops share: operands and the parts of them that an instance holds."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Constant, Expr, Var, type_of
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.core.type import IntLiteralType
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.shard import ShardLayout, format_int_tuple, shard_layout_local_shape
from tilefoundry.ir.types import DType, FloatDType, ShapeDim, StorageKind, TensorType


def tensor(ctx: TypeContext, name: str, operand: Expr | int) -> TensorType:
    """The type of an operand that must be a tensor held in a variable."""
    if not isinstance(operand, Var) or not isinstance(operand.type, TensorType):
        ctx.error(
            f"'{name}' must be a tensor, got {_described(operand)}",
            "allocate one with T.alloc_tensor, or view one with T.tensor_view",
        )
    return operand.type


def written(ctx: TypeContext, name: str, operand: Expr | int) -> TensorType:
    """The type of a destination."""
    type_ = tensor(ctx, name, operand)
    if type_.storage is StorageKind.UMAT or (not type_.shape and type_.storage is StorageKind.GMEM):
        ctx.error(
            f"'{name}' is {_described(operand)}, a scalar passed by value, which cannot be written",
            'allocate one: T.alloc_tensor(Tensor[(), "i32", "rmem"])',
        )
    return type_


def scalar(ctx: TypeContext, name: str, operand: Expr | int) -> DType:
    """The element type of an operand that must be a scalar; i64 for a plain int."""
    type_ = type_of(operand)
    if isinstance(type_, IntLiteralType):
        return DType.i64
    if not isinstance(type_, TensorType) or type_.shape:
        ctx.error(
            f"'{name}' must be a scalar, got {_described(operand)}", remedy="give a number, or a tensor of rank 0"
        )
    return type_.dtype


def index(ctx: TypeContext, name: str, operand: Expr | int) -> None:
    """Refuses what is no integer scalar."""
    dtype = scalar(ctx, name, operand)
    if not dtype.is_integer:
        ctx.error(f"'{name}' must be an integer, got {dtype}", remedy='cast it: tf.cast(n, "i64")')


def local_shape(type_: TensorType) -> tuple[ShapeDim, ...]:
    """What one instance holds; the whole tensor where it is not sharded."""
    if isinstance(type_.layout, ShardLayout):
        return shard_layout_local_shape(type_.layout, require_static=False)
    return type_.shape


def same_part(ctx: TypeContext, first: str, a: TensorType, second: str, b: TensorType) -> None:
    """Refuses tensors of which an instance holds parts of different shapes; extents of 1 make no difference.

    Between a sharded tensor and a whole one each instance takes its part of the whole, so their shapes must agree.
    """
    mixed = isinstance(a.layout, ShardLayout) != isinstance(b.layout, ShardLayout)
    ours, theirs = (a.shape, b.shape) if mixed else (local_shape(a), local_shape(b))
    lefts, rights = ([e for e in extents if e != 1] for extents in (ours, theirs))
    if len(lefts) != len(rights) or not all(map(dim_equal, lefts, rights)):
        ctx.error(
            f"'{first}' holds {format_int_tuple(ours)} and '{second}' {format_int_tuple(theirs)}"
            + ("" if mixed else " elements in each instance"),
            f"give '{second}' the layout of '{first}'",
        )


def same_dtype(ctx: TypeContext, first: str, a: DType, second: str, b: DType) -> None:
    """Refuses tensors of different element types."""
    if a != b:
        ctx.error(f"'{first}' is {a} and '{second}' is {b}; dtypes never promote", "convert one with T.cast(src, dst)")


def operand_dtype(ctx: TypeContext, name: str, operand: Expr | int, dst: TensorType) -> DType | None:
    """The element type of an elementwise operand: a tensor with the part of `dst`, or a scalar.

    None for a plain int, which takes the type of its peer.
    """
    if isinstance(operand, int):
        return None
    if isinstance(operand, Var) and isinstance(operand.type, TensorType) and operand.type.shape:
        same_part(ctx, name, operand.type, "dst", dst)
        return operand.type.dtype
    return scalar(ctx, name, operand)


def number_for(ctx: TypeContext, name: str, value: object, dtype: DType) -> None:
    """Refuses a compile-time value that elements of `dtype` cannot take."""
    if isinstance(value, bool):
        fits = dtype == DType.bool
    elif isinstance(value, int):
        fits = dtype != DType.bool
    else:
        fits = isinstance(value, float) and isinstance(dtype, FloatDType)
    if not fits:
        ctx.error(f"'{name}' is {value!r}, and the elements are {dtype}", "write a number of the element type")


def _described(operand: Expr | int) -> str:
    match operand:
        case int() | Constant():
            return f"the number {operand if isinstance(operand, int) else operand.value}"
        case Var():
            return f"'{operand.name}' of type {operand.type}"
    return f"a value of type {operand.type}"
