"""Meshes fit the levels of the program and the scopes that a call was written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from tilefoundry.diagnostics import SourceSpan, VerifyError, WrongValueError
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, get_metadata, span_of
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.hir.shard.mesh_coordinate import MeshCoordinate
from tilefoundry.ir.hir.shard.reshard import Reshard
from tilefoundry.ir.shard import ComposedLayout, Mesh, ShardLayout, Topology, axis_levels, composed
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import TensorType


def verify_scopes(fn: Function, topologies: Sequence[Topology] | None) -> None:
    """Checks every mesh of a function.

    Args:
        topologies: the levels in force; None where they are not known yet (a function outside of a Module).

    Raises:
        VerifyError: a mesh uses a level that is not declared, does not fit its levels, or is not in scope.
    """
    checked: set[Mesh] = set()
    for mesh, scopes, span in _uses(fn):
        if mesh not in checked:
            checked.add(mesh)
            _check_levels(fn, mesh, topologies, span)
        if scopes is not None and not in_scope(mesh, scopes):
            raise VerifyError(
                f"the mesh of axes {mesh.names or mesh.shape} is not in scope here",
                span=span,
                remedy="write the call inside of the 'with Mesh(...)' that makes the mesh",
            )


def meshes_named(fn: Function) -> tuple[Mesh, ...]:
    """Every mesh that a function names, each once."""
    return tuple(dict.fromkeys(mesh for mesh, _, _ in _uses(fn)))


def _uses(fn: Function) -> Iterator[tuple[Mesh, tuple[Mesh, ...] | None, SourceSpan | None]]:
    """The meshes that a function names: the mesh, the scopes around where they are recorded, and the place."""
    for param in fn.params:
        if isinstance(param.type, TensorType) and isinstance(param.type.layout, ShardLayout):
            yield param.type.layout.mesh, None, span_of(param.metadata) or fn.span
    for expr in post_order(fn.body) if fn.body is not None else ():
        scopes = _scopes(expr)
        if isinstance(expr, Call) and isinstance(expr.target, Reshard) and isinstance(expr.target.layout, ShardLayout):
            yield expr.target.layout.mesh, scopes, span_of(expr.metadata)
        if isinstance(expr, Call) and isinstance(expr.target, MeshCoordinate):
            yield expr.target.axis.mesh, scopes, span_of(expr.metadata)
        if isinstance(expr, GridRegionExpr) and expr.spread is not None:
            yield expr.spread.mesh, scopes, span_of(expr.metadata)
        for scope in scopes or ():
            yield scope, None, span_of(expr.metadata)


def _scopes(expr: Expr) -> tuple[Mesh, ...] | None:
    record = get_metadata(expr, ExecutionDomainMetadata)
    return record.scopes if record is not None else None


def in_scope(mesh: Mesh, scopes: tuple[Mesh, ...]) -> bool:
    """Whether a mesh is one of some nested scopes, or several of them composed."""
    if mesh in scopes:
        return True
    return any(
        mesh == composed(nested)
        for count in range(2, len(scopes) + 1)
        for nested in combinations(scopes, count)
        if _compose(nested)
    )


def _compose(meshes: tuple[Mesh, ...]) -> bool:
    """Whether meshes may be nested: whole ones, of different levels and names."""
    levels = [level.name for mesh in meshes for level in mesh.topologies]
    names = [name for mesh in meshes for name in mesh.names]
    whole = not any(isinstance(mesh.layout, ComposedLayout) for mesh in meshes)
    return whole and len(set(levels)) == len(levels) and len(set(names)) == len(names)


def _check_levels(fn: Function, mesh: Mesh, topologies: Sequence[Topology] | None, span: SourceSpan | None) -> None:
    if topologies is not None:
        declared = {t.name: t for t in topologies}
        for level in mesh.topologies:
            if declared.get(level.name) != level:
                known = ", ".join(f"{t.name}={format_dim(t.size)}" for t in topologies) or "none"
                raise VerifyError(
                    f"function '{fn.name}': topology '{level.name}' of size {format_dim(level.size)} not declared",
                    span=span,
                    remedy=f"the module declares: {known}",
                )
    if isinstance(mesh.layout, ComposedLayout):
        return  # a slice: some of the units
    try:
        axis_levels(mesh)
    except WrongValueError as error:
        raise VerifyError(f"function '{fn.name}': {error.message}", span=span, remedy=error.remedy) from error
