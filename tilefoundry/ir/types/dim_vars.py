"""The DimVars that a type mentions."""

from __future__ import annotations

from collections.abc import Iterator

from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.evaluate import dim_vars
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard.layout import ComposedLayout, Layout, flatten
from tilefoundry.ir.shard.shard_layout import ShardLayout
from tilefoundry.ir.types.tensor import AnyLayout, tensor_leaves


def type_dim_vars(type_: Type) -> frozenset[DimVar]:
    """The DimVars in the shapes, layouts and meshes of a type."""
    dims = [d for leaf in tensor_leaves(type_) for d in (*leaf.shape, *_layout_dims(leaf.layout))]
    return frozenset(v for d in dims for v in dim_vars(d))


def _layout_dims(layout: AnyLayout | None) -> Iterator[Dim]:
    match layout:
        case ShardLayout():
            yield from _layout_dims(layout.layout)
            yield from _layout_dims(layout.mesh.layout)
            yield from (topology.size for topology in layout.mesh.topologies)
        case ComposedLayout():
            yield layout.offset
            yield from _layout_dims(layout.inner) if isinstance(layout.inner, Layout) else ()
            yield from _layout_dims(layout.outer)
        case Layout():
            yield from flatten(layout.shape)
            yield from flatten(layout.strides or ())
