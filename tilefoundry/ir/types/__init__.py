"""Types. See `tilefoundry.ir.types.tensor` for the one that matters most."""

import tilefoundry.ir.dims  # noqa: F401  # types and dims are built together, dims first
from tilefoundry.ir.types.callable import CallableType, IntLiteralType, TupleType, Type, UnitType
from tilefoundry.ir.types.dtype import BoolDType, DType, FloatDType, IntegerDType, resolve_dtype
from tilefoundry.ir.types.local import local_type_of
from tilefoundry.ir.types.sizes import numel, tensor_bytes
from tilefoundry.ir.types.storage import StorageKind, resolve_storage
from tilefoundry.ir.types.tensor import (
    INDEX_TYPE,
    AnyLayout,
    ShapeDim,
    TensorType,
    make_shard_tensor_type,
    make_tensor_type,
    tensor_leaves,
)

__all__ = [
    "INDEX_TYPE",
    "AnyLayout",
    "BoolDType",
    "CallableType",
    "DType",
    "FloatDType",
    "IntLiteralType",
    "IntegerDType",
    "ShapeDim",
    "StorageKind",
    "TensorType",
    "TupleType",
    "Type",
    "UnitType",
    "local_type_of",
    "make_shard_tensor_type",
    "make_tensor_type",
    "numel",
    "resolve_dtype",
    "resolve_storage",
    "tensor_bytes",
    "tensor_leaves",
]
