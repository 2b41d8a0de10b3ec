"""Where tensors live: registers, spans of shared memory, addresses, and views over any of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Constant, Expr, Var
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.dims.ops import is_dim_operand
from tilefoundry.ir.shard import (
    Layout,
    ShardLayout,
    flat_modes,
    per_unit_strides,
    row_major,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.shard.layout import flatten
from tilefoundry.ir.tir.ops.base import ValueOp
from tilefoundry.ir.tir.ops.rules import index, tensor
from tilefoundry.ir.tir.types import PointerType
from tilefoundry.ir.types import AnyLayout, DType, ShapeDim, StorageKind, TensorType
from tilefoundry.ir.types.dtype import resolve_dtype


@register_op(dialect="T", category="memory", name="alloc_tensor")
@dataclass(frozen=True, slots=True)
class AllocTensor(ValueOp):
    """``AllocTensor(tensor_type)()``: a fresh tensor in registers (per instance), shared memory (per CTA), or global
    memory (one for the launch; in a host function, one for the call).

    Shared allocations are replaced by views of one ``MemorySpan`` when memory is planned. A tensor in registers holds
    each instance's part apart, whatever strides its type has. A global one is row-major, of any extents that the
    parameters have; its elements have no value before they are written.

    Attributes:
        tensor_type: of the tensor.
        ring: the parts along its first axis are stages, whose use a pipeline orders.
    """

    tensor_type: TensorType
    ring: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.tensor_type, TensorType):
            raise WrongTypeError(
                f"alloc_tensor: expected a TensorType, got {self.tensor_type!r}",
                remedy="write TensorType((4, 32), DType.f32, layout, StorageKind.RMEM)",
            )

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """The type that is asked for: in rmem or smem, of static extents; or in gmem, row-major."""
        type_ = self.tensor_type
        if type_.storage is StorageKind.GMEM:
            if not type_.shape:
                ctx.error("a global tensor of rank 0 is allocated", 'give it an axis: Tensor[(1,), "f32"]')
            if type_.layout is not None and type_.layout != row_major(type_.shape):
                ctx.error(
                    f"a global tensor is allocated row-major, got the layout {type_.layout}",
                    "allocate it without layout, and view it: T.tensor_view(x, layout=...)",
                )
            return type_
        if type_.storage not in (StorageKind.RMEM, StorageKind.SMEM):
            ctx.error(f"a kernel allocates in rmem, smem and gmem, got {type_.storage}", "name one of these")
        if not all(isinstance(extent, int) for extent in type_.shape):
            ctx.error(f"{type_} has a symbolic extent", "allocate a tile of static extents")
        _check_elements(ctx, type_)
        return type_


@register_op(dialect="T", category="memory", name="memory_span")
@dataclass(frozen=True, slots=True)
class MemorySpan(ValueOp):
    """``MemorySpan(bytes)()``: the CTA's shared memory, 128-byte aligned; addressed in bytes."""

    bytes: int

    def __post_init__(self) -> None:
        if isinstance(self.bytes, bool) or not isinstance(self.bytes, int) or self.bytes < 1:
            raise WrongValueError(
                f"memory_span: expected a positive number of bytes, got {self.bytes!r}", remedy="write 1 or more"
            )

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """Bytes in shared memory."""
        return TensorType((self.bytes,), DType.u8, None, StorageKind.SMEM)


@register_op(dialect="T", category="memory", name="ptr_of")
@dataclass(frozen=True, slots=True)
class PtrOf(ValueOp):
    """``PtrOf()(tensor)``: the address of a tensor's first element, to be viewed under another shape."""

    tensor: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr) -> PointerType:  # type: ignore[override]
        """A pointer to the tensor's elements. Registers have no address."""
        type_ = tensor(ctx, "tensor", x)
        if type_.storage not in (StorageKind.GMEM, StorageKind.SMEM):
            ctx.error(f"a tensor in {type_.storage} has no address", "take the address of a gmem or smem tensor")
        return PointerType(type_.dtype, type_.storage)


@register_op(dialect="T", category="memory", name="tensor_view")
@dataclass(frozen=True, slots=True)
class TensorView(ValueOp):
    """``TensorView(layout, shape)(memory[, *coords])``: the storage of ``memory`` under another shape or layout.

    ``memory`` is a tensor, a pointer, or a span. The view starts at ``coords``: a coordinate for each axis of a
    tensor, an offset in elements from a pointer, in bytes into a span. Strides that ``layout`` leaves open are
    row-major over what the instances share, or over each instance's own part where memory is registers.

    Attributes:
        layout: a plain one belongs to the whole CTA, a sharded one to its instances; None is row-major.
        shape: of the view; None is the tensor's own.
        dtype: of the view of a span, and the memory's own elsewhere.
    """

    memory: ClassVar[ParamDef] = ParamDef()
    coords: ClassVar[ParamDef] = ParamDef(variadic=True, pattern=ScalarPat())
    layout: AnyLayout | None = None
    shape: tuple[ShapeDim, ...] | None = None
    dtype: DType | None = None

    def __post_init__(self) -> None:
        if self.dtype is not None:
            object.__setattr__(self, "dtype", resolve_dtype(self.dtype))
        if self.shape is not None:
            shape = self.shape if isinstance(self.shape, (tuple, list)) else (self.shape,)
            if not all(is_dim_operand(extent) for extent in shape):
                raise WrongTypeError(
                    f"tensor_view: shape must be a tuple of extents, got {self.shape!r}", remedy="write shape=(4, 32)"
                )
            object.__setattr__(self, "shape", tuple(shape))

    def type_rule(self, ctx: TypeContext, memory: Expr, *coords: Expr | int) -> TensorType:  # type: ignore[override]
        """The memory's elements and storage under the view's shape and layout."""
        for k, coord in enumerate(coords):
            index(ctx, f"coords[{k}]", coord)
        type_ = memory.type if isinstance(memory, Var) else None
        if isinstance(type_, PointerType):
            wanted, what = (0, 1), "a pointer"
        elif isinstance(type_, TensorType):
            wanted, what = (0, type_.rank), f"a tensor of rank {type_.rank}"
        else:
            ctx.error(
                f"'memory' must be a tensor or a pointer, got {getattr(type_, 'type', 'a value')}",
                remedy="give a tensor, or a pointer of T.ptr_of",
            )
        if len(coords) not in wanted:
            ctx.error(
                f"{what} is viewed at {wanted[1]} coordinate(s) or none, got {len(coords)}",
                "write T.tensor_view(x, i, j, layout=..., shape=...)",
            )
        own_shape = type_.shape if isinstance(type_, TensorType) else None
        shape = self.shape if self.shape is not None else own_shape
        if shape is None:
            ctx.error("a view of a pointer needs a shape", "write T.tensor_view(ptr, layout=..., shape=(4, 32))")
        dtype = self.dtype or type_.dtype
        span = isinstance(type_, TensorType) and type_.dtype == DType.u8 and type_.storage is StorageKind.SMEM
        if dtype != type_.dtype and not span:
            ctx.error(
                f"the memory holds {type_.dtype}, and the view is of {dtype}", "convert elements with T.cast(src, dst)"
            )
        view = TensorType(shape, dtype, materialised(self.layout, shape, type_.storage), type_.storage)
        if isinstance(type_, TensorType) and not span:
            _check_reach(ctx, type_, coords, view)
        _check_elements(ctx, view)
        return view


def _check_elements(ctx: TypeContext, type_: TensorType) -> None:
    """Refuses a tensor without elements: C++ knows no array of none. Extents in gmem are those of the launch."""
    if type_.storage is not StorageKind.GMEM and any(isinstance(e, int) and e == 0 for e in type_.shape):
        ctx.error(f"{type_} has no elements", "leave it out, and what reads and writes it, or give extents from 1 on")


def _check_reach(ctx: TypeContext, memory: TensorType, coords: tuple[Expr | int, ...], view: TensorType) -> None:
    """Refuses a view of which it is known that it leaves its memory. Registers are each instance's own: not checked."""
    held, seen = _reach(memory.layout, memory.shape), _reach(view.layout, view.shape)
    if held is None or seen is None or memory.storage is StorageKind.RMEM:
        return
    start = 0
    layout = memory.layout if isinstance(memory.layout, Layout) else row_major(memory.shape)
    for coord, (_, stride) in zip(coords, flat_modes(layout), strict=False):
        at = coord.value if isinstance(coord, Constant) else coord
        if not isinstance(at, int) or not isinstance(stride, int):
            at = stride = 0  # not known before the kernel runs: as if it were the first
        start += at * stride
    if start < 0 or start + seen > held:
        ctx.error(
            f"the view reaches element {start + seen - 1} of memory that holds {held}"
            if start >= 0
            else f"the view starts {-start} elements before its memory",
            "let the coordinates and strides of the view stay inside",
        )


def _reach(layout: AnyLayout | None, shape: tuple[ShapeDim, ...]) -> int | None:
    """The number of elements from the first to the last one; None where it is not known or the layout is composed."""
    plain = layout.layout if isinstance(layout, ShardLayout) else row_major(shape) if layout is None else layout
    if not isinstance(plain, Layout) or plain.strides is None:
        return None
    last = 0
    for extent, stride in flat_modes(plain):
        if not isinstance(extent, int) or not isinstance(stride, int) or extent < 1:
            return None
        last += (extent - 1) * stride
    return last + 1


def materialised(layout: AnyLayout | None, shape: tuple[ShapeDim, ...], storage: StorageKind) -> AnyLayout:
    """The layout with strides decided: row-major, where registers hold each instance's part apart."""
    if layout is None:
        return row_major(shape)
    if isinstance(layout, ShardLayout) and layout.layout.strides is None:
        apart = storage is StorageKind.RMEM
        return with_strides(layout, per_unit_strides(layout) if apart else shared_strides(layout))
    if isinstance(layout, Layout) and layout.strides is None:
        return row_major(flatten(layout.shape))
    return layout


def view_as(type_: TensorType) -> TensorView:
    """The view that gives memory exactly this type."""
    return TensorView(type_.layout, type_.shape, type_.dtype)
