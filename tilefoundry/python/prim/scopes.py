"""``with Mesh(...) as m:`` in a kernel."""

from __future__ import annotations

import ast

from tilefoundry.ir import tir
from tilefoundry.ir.shard import ComposedLayout, Mesh
from tilefoundry.python.parser import Parser
from tilefoundry.python.prim.parser import PrimParser
from tilefoundry.python.values import describe


def scope(p: Parser, node: ast.AST) -> None:
    """Mesh scopes, one inside the other."""
    assert isinstance(node, ast.With) and isinstance(p, PrimParser)
    _open(p, node, 0)


def _open(p: PrimParser, node: ast.With, index: int) -> None:
    if index == len(node.items):
        p.run(node.body)
        return
    item = node.items[index]
    mesh = _mesh(p, item.context_expr)
    name = item.optional_vars
    if name is not None and not isinstance(name, ast.Name):
        p.refuse(name, "expected a name after 'as'", "write 'with Mesh(...) as m:'")

    def fill() -> None:
        if name is not None:
            p.bind(name.id, mesh)
        _open(p, node, index + 1)

    p.meshes.append(mesh)
    body = p.block("'with'", node, fill)
    p.meshes.pop()
    p.items.append(tir.MeshScope(mesh, None if name is None else name.id, body, metadata=p.place(item.context_expr)))


def _mesh(p: PrimParser, node: ast.expr) -> Mesh:
    mesh = p.evaluate(node)
    if not isinstance(mesh, Mesh):
        p.refuse(node, f"expected a Mesh after 'with', got {describe(mesh)}", "write 'with Mesh(...) as m:'")
    if isinstance(mesh.layout, ComposedLayout):
        return mesh  # some units of an outer scope; the verifier looks for it
    for open_mesh in p.meshes:
        both = {t.name for t in open_mesh.topologies} & {t.name for t in mesh.topologies}
        if both:
            p.refuse(
                node,
                f"topology '{min(both)}' is open already in an outer mesh scope",
                remedy="use the outer mesh or a slice of it, m[0:2], or close its scope first",
            )
    return mesh
