"""``m.axis`` where a value is expected: the running unit's coordinate along the mesh axis."""

from __future__ import annotations

import ast

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, SourceSpanMetadata
from tilefoundry.ir.hir import MeshCoordinate
from tilefoundry.ir.shard import MeshAxis
from tilefoundry.python.parser import Parser


def read_coordinate(p: Parser, node: ast.AST, value: object) -> object:
    """A mesh axis as the index scalar that a unit reads; any other value as it is.

    All reads of one axis are one value, which belongs to the scope of its mesh: index arithmetic is one normal form,
    however often and wherever in the scope the axis is read.
    """
    if not isinstance(value, MeshAxis):
        return value
    if value.mesh not in p.meshes:
        p.refuse(
            node,
            f"mesh axis '{value.name}' is not in scope here",
            remedy="read the coordinate inside of the 'with Mesh(...)' that makes the mesh",
        )
    scopes = tuple(p.meshes[: p.meshes.index(value.mesh) + 1])
    key = (value, scopes)
    if key not in p.coordinates:
        span = next(m for m in p.metadata(node) if isinstance(m, SourceSpanMetadata))
        p.coordinates[key] = Call(MeshCoordinate(value), (), metadata=(span, ExecutionDomainMetadata(scopes)))
    return p.coordinates[key]
