"""TensorType: logical shape, element type, layout, storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.type import IntLiteralType, TupleType, Type
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.normal_form import dim_equal, normalize_dim, unequal
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.shard.attrs import ShardAttr
from tilefoundry.ir.shard.canonical import canonical_shard_layout
from tilefoundry.ir.shard.layout import (
    EMPTY_LAYOUT,
    ComposedLayout,
    Layout,
    check_shape,
    format_int_tuple,
    known_injective,
)
from tilefoundry.ir.shard.mesh import Mesh
from tilefoundry.ir.shard.shard_layout import ShardLayout
from tilefoundry.ir.types.dtype import DType, resolve_dtype
from tilefoundry.ir.types.storage import StorageKind, resolve_storage

ShapeDim = Dim
AnyLayout = Layout | ComposedLayout | ShardLayout


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """The type of a tensor; rank 0 is a scalar.

    Attributes:
        shape: the *logical* extents, normal forms; sharding never changes them.
        layout: None leaves it open; a plain layout has the tensor's rank and extents; of a ShardLayout only the total
            size must match.

    Raises:
        WrongTypeError: a field has the wrong type.
        WrongValueError: an extent is negative, or the layout does not fit the shape.
    """

    shape: tuple[Dim, ...]
    dtype: DType
    layout: AnyLayout | None = None
    storage: StorageKind = StorageKind.GMEM

    def __post_init__(self) -> None:
        if not isinstance(self.shape, (tuple, list)) or not all(is_dim_operand(d) for d in self.shape):
            raise WrongTypeError(
                f"TensorType: shape must be a tuple of ints and dims, got {self.shape!r}", remedy="write e.g. (64, 32)"
            )
        shape = tuple(normalize_dim(d) for d in self.shape)
        object.__setattr__(self, "shape", shape)
        if any(isinstance(d, int) and d < 0 for d in shape):
            raise WrongValueError(
                f"TensorType: extents must not be negative, got {format_int_tuple(shape)}",
                remedy="write extents of 0 or more",
            )
        for extent in shape:
            if isinstance(extent, Expr) and not is_index_type(extent.type):
                raise WrongTypeError(
                    f"TensorType: an extent must be a scalar integer, got one of type {extent.type}",
                    remedy="use an int, a DimVar, or arithmetic on these",
                )
        if not isinstance(self.dtype, DType):
            raise WrongTypeError(
                f"TensorType: dtype must be a DType, got {self.dtype!r}",
                remedy="write DType.f32, or DType.from_name(name)",
            )
        if not isinstance(self.storage, StorageKind):
            raise WrongTypeError(
                f"TensorType: storage must be a StorageKind, got {self.storage!r}", remedy="use resolve_storage(name)"
            )
        if isinstance(self.layout, ShardLayout):
            if not dim_equal(dim_product(self.layout.shape), dim_product(shape)):
                reason = unequal(dim_product(self.layout.shape), dim_product(shape))
                raise WrongValueError(
                    f"shard layout of shape {format_int_tuple(self.layout.shape)} does not hold as many elements as "
                    f"the tensor {format_int_tuple(shape)}: {reason}",
                    remedy="let its modes factor the extents of the tensor",
                )
        elif isinstance(self.layout, (Layout, ComposedLayout)):
            extents = tuple(dim_product(e) if isinstance(e, tuple) else e for e in self.layout.shape)
            faults = [f"it has rank {len(extents)}"] if len(extents) != len(shape) else []
            faults += [unequal(e, own) for e, own in zip(extents, shape, strict=False) if not dim_equal(e, own)]
            if faults:
                raise WrongValueError(
                    f"layout of shape {format_int_tuple(self.layout.shape)} does not fit the tensor "
                    f"{format_int_tuple(shape)}: {faults[0]}",
                    remedy="give a plain layout the extents of the tensor",
                )
            if not known_injective(self.layout):
                raise WrongValueError(
                    f"layout {self.layout} gives one index to two elements, expected an injective layout",
                    remedy="choose strides that step over what the smaller ones reach",
                )
        elif self.layout is not None:
            raise WrongTypeError(
                f"TensorType: layout must be a layout or None, got {self.layout!r}",
                remedy="use a Layout, a ComposedLayout or a ShardLayout",
            )

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @classmethod
    def scalar(
        cls, dtype: DType | str, layout: AnyLayout | None = None, storage: StorageKind = StorageKind.UMAT
    ) -> TensorType:
        """A rank-0 tensor."""
        return cls((), resolve_dtype(dtype), layout, storage)

    @classmethod
    def umat_scalar(cls, dtype: DType | str = DType.i64) -> TensorType:
        """A scalar whose residency is undecided: an index, an extent, a literal."""
        return cls((), resolve_dtype(dtype), EMPTY_LAYOUT, StorageKind.UMAT)

    @classmethod
    def umat_tensor(cls, shape: Sequence[Dim], dtype: DType | str = DType.i64) -> TensorType:
        """A tensor whose residency is undecided."""
        return cls(tuple(shape), resolve_dtype(dtype), None, StorageKind.UMAT)

    def __str__(self) -> str:
        layout = f", {self.layout}" if self.layout is not None and self.layout != EMPTY_LAYOUT else ""
        return f"Tensor[{format_int_tuple(self.shape)}, {self.dtype}{layout}, {self.storage}]"


def is_index_type(type_: Type) -> bool:
    """Whether a value of this type may stand as an extent or index: a scalar integer."""
    return isinstance(type_, IntLiteralType) or (
        isinstance(type_, TensorType) and not type_.shape and type_.dtype.is_integer
    )


INDEX_TYPE = TensorType.umat_scalar(DType.i64)


def make_tensor_type(
    shape: Sequence[Dim],
    dtype: DType | str = DType.f32,
    storage: StorageKind | str = "gmem",
    layout: AnyLayout | None = None,
) -> TensorType:
    """A TensorType from names; raises like `resolve_dtype`, `resolve_storage` and TensorType."""
    kind = resolve_storage(storage)
    if kind is None:
        raise WrongTypeError("make_tensor_type: storage must be given, got None", remedy='write e.g. "gmem"')
    return TensorType(check_shape("make_tensor_type", shape), resolve_dtype(dtype), layout, kind)


def make_shard_tensor_type(
    shape: Sequence[Dim],
    dtype: DType | str,
    storage: StorageKind | str,
    mesh: Mesh | None = None,
    attrs: Sequence[ShardAttr] = (),
) -> TensorType:
    """A TensorType in canonical shard layout, attributes over logical axes; plain without a mesh or attributes."""
    layout = canonical_shard_layout(shape, mesh, attrs) if mesh is not None and attrs else None
    return make_tensor_type(shape, dtype, storage, layout)


def tensor_leaves(type_: Type) -> tuple[TensorType, ...]:
    """The tensors of a type, tuples flattened."""
    if isinstance(type_, TensorType):
        return (type_,)
    if isinstance(type_, TupleType):
        return tuple(leaf for f in type_.fields for leaf in tensor_leaves(f))
    return ()
