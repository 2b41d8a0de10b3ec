"""Whether a program asks what each unit holds, and over which units it is then evaluated.

Logical tensors say it all about a program that reads no mesh coordinate and takes no unit's own part: a reshard keeps
the logical value, and the type rules let a Partial through those ops alone that commute with its reduction. All other
programs are evaluated over the units of their meshes, where a value stays logical until units differ on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilefoundry.diagnostics import DimSubstitutionError, EvalError
from tilefoundry.evaluator.participants import leaves
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims import Dim, DimVar, evaluate_dim
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import GridRegionExpr, Local, MeshCoordinate
from tilefoundry.ir.shard import Broadcast, Mesh, Partial, ShardLayout, Topology
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import TensorType


def asks_for_units(body: Expr) -> bool:
    """Whether what one unit holds decides what a program computes."""
    calls = (e for e in post_order(body) if isinstance(e, Call))
    return any(isinstance(call.target, MeshCoordinate) or _is_own_part(call) for call in calls)


def _is_own_part(call: Call) -> bool:
    if not isinstance(call.target, Local) or not isinstance(call.args[0], Expr):
        return False
    type_ = call.args[0].type
    if not isinstance(type_, TensorType) or not isinstance(type_.layout, ShardLayout):
        return False
    layout = type_.layout
    return any(not isinstance(a, Broadcast) and n != 1 for a, n in zip(layout.attrs, layout.mesh.shape, strict=True))


def bind_levels(function: Function, extents: Mapping[str, int], mesh: Mesh) -> dict[str, int]:
    """The extents, with the sizes of launch-provided levels as a mesh gives them.

    Raises:
        EvalError: the mesh gives a level another size than the program or an input does, or none.
    """
    values = dict(extents)
    given = {t.name: t for t in mesh.topologies}
    for level in dict.fromkeys(t for m in meshes_of(function) for t in m.topologies):
        if level.name not in given:
            continue
        size = given[level.name].size
        if not isinstance(size, int):
            raise EvalError(
                f"mesh: level '{level.name}' has the size {format_dim(size)}, expected an int",
                remedy="give the number of units: Topology('cta', 132)",
            )
        if isinstance(level.size, DimVar):
            _check_launched(level, level.size, size)
            values.setdefault(level.size.name, size)
        if (known := _value(level.size, values)) != size:
            raise EvalError(
                f"mesh: level '{level.name}' has {size} units, the program declares "
                f"{known if known is not None else format_dim(level.size)}",
                remedy="leave the level out of the mesh, or give it the size that the program declares",
            )
    return values


def units_of(function: Function, extents: Mapping[str, int]) -> Units:
    """The units of all meshes of a function.

    Raises:
        EvalError: a launch-provided level has no size; a parameter is Partial, so that its terms are unknown.
    """
    for param in function.params:
        layout = param.type.layout if isinstance(param.type, TensorType) else None
        if isinstance(layout, ShardLayout) and any(isinstance(a, Partial) for a in layout.attrs):
            raise EvalError(
                f"input '{param.name}' is Partial: what each unit holds of it is unknown",
                remedy="declare it complete",
            )

    def extent(dim: Dim) -> int:
        value = _value(dim, extents)
        if value is None:
            raise EvalError(
                f"the number of units {format_dim(dim)} is provided by a launch",
                remedy="give it: evaluate(..., mesh=Mesh((Topology('cta', 132),), Layout((132,))))",
            )
        return value

    return Units(meshes_of(function), extent)


def _value(dim: Dim, extents: Mapping[str, int]) -> int | None:
    try:
        return evaluate_dim(dim, extents)
    except DimSubstitutionError:
        return None


def _check_launched(level: Topology, size: DimVar, given: int) -> None:
    if not size.lo <= given < size.hi:
        raise EvalError(
            f"mesh: level '{level.name}' has {given} units, outside its envelope [{size.lo}, {size.hi})",
            remedy="give as many units as the envelope allows, or widen it",
        )


def meshes_of(function: Function) -> list[Mesh]:
    """The meshes that the types, coordinates and loops of a function use."""
    return list(dict.fromkeys(_meshes(function)))


def _meshes(function: Function) -> Iterator[Mesh]:
    nodes = [*function.params, *(post_order(function.body) if function.body is not None else ())]
    for node in nodes:
        for leaf in leaves(node.type):
            if isinstance(leaf.layout, ShardLayout):
                yield leaf.layout.mesh
        if isinstance(node, Call) and isinstance(node.target, MeshCoordinate):
            yield node.target.axis.mesh
        if isinstance(node, GridRegionExpr) and node.spread is not None:
            yield node.spread.mesh
