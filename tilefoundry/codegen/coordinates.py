"""Which instance runs: coordinates of meshes, and scopes of some of the threads, as C++ text."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.dims import Dim, dim_equal, dim_mul
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, flat_modes
from tilefoundry.ir.tir.barriers import participants
from tilefoundry.ir.traverse import post_order

Query = tir.ShapeOf | Call


def queries_in(body: tir.Stmt) -> list[Query]:
    """The extents of parameters and the mesh coordinates that a kernel reads, each once."""
    found: dict[Query, None] = {}
    for item in tir.items_within(tir.unfold(body)):
        for root in tir.expressions_of(item):
            for part in post_order(root):
                if isinstance(part, tir.ShapeOf) or (
                    isinstance(part, Call) and isinstance(part.target, hir.MeshCoordinate)
                ):
                    found.setdefault(part)
    return list(found)


def coordinate_text(query: Call, extent_text: Callable[[Dim], str]) -> str:
    """The coordinate along an axis of a mesh of one level: the unit's id, divided by the axis' stride."""
    assert isinstance(query.target, hir.MeshCoordinate)
    axis = query.target.axis
    offset, layout = 0, axis.mesh.layout
    if isinstance(layout, ComposedLayout):
        assert isinstance(layout.offset, int) and isinstance(layout.outer, Layout)
        offset, layout = layout.offset, layout.outer
    extent, stride = flat_modes(layout)[axis.axis]
    level = axis.mesh.topologies[0]
    text = f"int64_t{{program_id<TopologyScope::{level.name}>()}}"
    if offset:
        text = f"({text} - {offset})"
    if stride != 1:
        text = f"{text} / {extent_text(stride)}"
    outermost = offset == 0 and dim_equal(dim_mul(extent, stride), level.size)
    return text if outermost else f"{text} % {extent_text(extent)}"


def scope_text(mesh: Mesh) -> str:
    """What stands before the block of a scope: nothing for a whole mesh, a test for a slice of the threads."""
    if isinstance(mesh.layout, Layout):
        return ""
    ids = participants(mesh)
    thread = "program_id<TopologyScope::thread>()"
    return f"if ({thread} >= {ids[0]} && {thread} <= {ids[-1]}) "
