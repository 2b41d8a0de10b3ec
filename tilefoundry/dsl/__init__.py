"""The names that authors import to write tensor programs."""

from tilefoundry.dsl import T, storage, tf
from tilefoundry.dsl.markers import launch, tile, where
from tilefoundry.dsl.tensor import ConstTensor, Tensor
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.dims import DimVar, ceildiv
from tilefoundry.ir.hir import BinaryKind, ReduceKind, UnaryKind
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardLayout,
    Split,
    Topology,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType

S, P, B = Split, Partial, Broadcast

__all__ = [
    "B",
    "BinaryKind",
    "Broadcast",
    "ComposedLayout",
    "ConstTensor",
    "DType",
    "DimVar",
    "DimVarRangePat",
    "Dynamic",
    "Layout",
    "Mesh",
    "P",
    "Partial",
    "ReduceKind",
    "S",
    "ShardLayout",
    "Split",
    "StorageKind",
    "T",
    "Tensor",
    "TensorType",
    "Topology",
    "UnaryKind",
    "ceildiv",
    "launch",
    "storage",
    "tf",
    "tile",
    "where",
]
