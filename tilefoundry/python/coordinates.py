"""``m.axis`` where a value is expected: the running unit's coordinate along the mesh axis."""

from __future__ import annotations

import ast

from tilefoundry.ir.hir import MeshCoordinate
from tilefoundry.ir.shard import MeshAxis
from tilefoundry.python.parser import Parser


def read_coordinate(p: Parser, node: ast.AST, value: object) -> object:
    """A mesh axis as the index scalar that a unit reads; any other value as it is."""
    if not isinstance(value, MeshAxis):
        return value
    if value.mesh not in p.meshes:
        p.refuse(
            node,
            f"mesh axis '{value.name}' is not in scope here",
            remedy="read the coordinate inside of the 'with Mesh(...)' that makes the mesh",
        )
    return p.call(node, MeshCoordinate(value), ())
