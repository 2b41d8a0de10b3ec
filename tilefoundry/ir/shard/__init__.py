"""Layouts, meshes, and how tensors are spread over them."""

from tilefoundry.ir.shard.algebra import (
    coalesce,
    complement,
    composition,
    is_inverse_projectable,
    left_inverse,
    right_inverse,
)
from tilefoundry.ir.shard.attrs import Broadcast, Dynamic, Partial, ShardAttr, Split
from tilefoundry.ir.shard.canonical import (
    canonical_shard_layout,
    is_per_unit,
    per_unit_strides,
    shard_layout_local_shape,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.shard.group import group_modes
from tilefoundry.ir.shard.layout import (
    EMPTY_LAYOUT,
    ComposedLayout,
    Layout,
    LayoutBase,
    apply,
    c_order_strides,
    cosize,
    crd2idx,
    flat_modes,
    flatten,
    format_int_tuple,
    idx2crd,
    is_injective,
    known_injective,
    natural_strides,
    row_major,
    size,
    try_c_order_strides,
)
from tilefoundry.ir.shard.mesh import (
    Mesh,
    MeshAxis,
    Topology,
    axis_levels,
    composed,
    make_mesh,
    states_consistent_positions,
)
from tilefoundry.ir.shard.order import in_axis_order
from tilefoundry.ir.shard.placed import Placed, ValueState
from tilefoundry.ir.shard.scopes import contains, image, level_projection, project
from tilefoundry.ir.shard.shard_layout import ShardLayout
from tilefoundry.ir.shard.sugar import layout_from_sugar
from tilefoundry.ir.shard.swizzle import Swizzle

B = Broadcast
P = Partial
S = Split

__all__ = [
    "EMPTY_LAYOUT",
    "B",
    "Broadcast",
    "ComposedLayout",
    "Dynamic",
    "Layout",
    "LayoutBase",
    "Mesh",
    "MeshAxis",
    "P",
    "Partial",
    "Placed",
    "S",
    "ShardAttr",
    "ShardLayout",
    "Split",
    "Swizzle",
    "Topology",
    "ValueState",
    "apply",
    "axis_levels",
    "c_order_strides",
    "canonical_shard_layout",
    "coalesce",
    "complement",
    "composed",
    "composition",
    "contains",
    "cosize",
    "crd2idx",
    "flat_modes",
    "flatten",
    "format_int_tuple",
    "group_modes",
    "idx2crd",
    "image",
    "in_axis_order",
    "is_injective",
    "is_inverse_projectable",
    "is_per_unit",
    "known_injective",
    "layout_from_sugar",
    "left_inverse",
    "level_projection",
    "make_mesh",
    "natural_strides",
    "per_unit_strides",
    "project",
    "right_inverse",
    "row_major",
    "shard_layout_local_shape",
    "shared_strides",
    "size",
    "states_consistent_positions",
    "try_c_order_strides",
    "with_strides",
]
