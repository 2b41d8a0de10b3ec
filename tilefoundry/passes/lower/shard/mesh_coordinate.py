"""MeshCoordinate: a digit of the running instance's id at the axis' level."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims import INDEX_TYPE, dim_atoms, dim_equal, dim_floordiv, dim_mod, dim_mul
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import MeshCoordinate
from tilefoundry.ir.shard import Layout, MeshAxis, axis_levels, flat_modes
from tilefoundry.ir.tir import Index, ProgramId
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(MeshCoordinate)
def lower_mesh_coordinate(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, MeshCoordinate)
    mesh = op.axis.mesh
    if not isinstance(mesh.layout, Layout):
        ctx.refuse(
            call,
            f"the coordinate along '{op.axis.name}' of a slice of a mesh cannot be compiled",
            remedy="read the coordinate of the whole mesh, and subtract where the slice begins",
        )
    number = axis_levels(mesh)[op.axis.axis]
    level = mesh.topologies[number]
    extent, step = flat_modes(mesh.layout)[op.axis.axis]
    stride = dim_floordiv(step, dim_product(t.size for t in mesh.topologies[number + 1 :]))
    value: Dim = ctx.bind(f"{level.name}_id", ProgramId(level.name), (), INDEX_TYPE)
    value = dim_floordiv(value, stride)
    if not dim_equal(dim_mul(extent, stride), level.size):
        value = dim_mod(value, extent)
    return ctx.bind(op.axis.name, Index(), (value,), INDEX_TYPE)


def coordinates_in(dim: Dim) -> tuple[MeshAxis, ...]:
    """The mesh axes whose coordinates an index is made of."""
    atoms = dim_atoms(dim) if isinstance(dim, Expr) else ()
    return tuple(a.target.axis for a in atoms if isinstance(a, Call) and isinstance(a.target, MeshCoordinate))


def is_of_one_cta(axis: MeshAxis) -> bool:
    """Whether all threads of a CTA have one coordinate along the axis."""
    mesh = axis.mesh
    return isinstance(mesh.layout, Layout) and mesh.topologies[axis_levels(mesh)[axis.axis]].name == "cta"
