"""``y: where(layout=..., mesh=..., storage=...) = value``: schedule constraints."""

from __future__ import annotations

import ast

from tilefoundry.dsl.markers import SurfaceOp, Where
from tilefoundry.ir.core.expr import Call, replace_metadata
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.schedule import ScheduleConstraintMetadata, check_schedule_constraint
from tilefoundry.ir.shard import Mesh
from tilefoundry.python.layouts import resolve_layout
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import describe

FORM = 'write y: where(layout=(4 @ m.x, 64), storage="smem") = value'
_PARTS = ("layout", "mesh", "storage")


def annotated(p: Parser, node: ast.AST) -> None:
    """An annotated assignment: the value, which is computed here, carries the constraint."""
    assert isinstance(node, ast.AnnAssign)
    if not isinstance(node.target, ast.Name):
        p.refuse(node.target, "expected a name before ':'", FORM)
    constraint = _constraint(p, node.annotation)
    if node.value is None:
        p.refuse(node, f"'{node.target.id}' is annotated and has no value", FORM)
    value = p.evaluate(node.value)
    if not isinstance(value, Call) or binding_name(value) is not None:
        what = f"'{binding_name(value)}', which has a name already" if isinstance(value, Call) else describe(value)
        p.refuse(
            node.value,
            f"a schedule constraint belongs to the assignment that computes a value, got {what}",
            remedy="annotate the assignment of the op whose result it is",
        )
    constrained = replace_metadata(value, constraint)
    with p.located(node):
        check_schedule_constraint(constrained)
    p.bind(node.target.id, constrained)


def _constraint(p: Parser, node: ast.expr) -> ScheduleConstraintMetadata:
    marker = p.evaluate(node.func) if isinstance(node, ast.Call) else None
    # `from tilefoundry.dsl.tf import *` binds the op of this name
    if not isinstance(node, ast.Call) or not (isinstance(marker, Where) or marker == SurfaceOp("tf", "where")):
        p.refuse(node, "expected where(...) as the annotation of a local name", FORM)
    if node.args:
        p.refuse(node.args[0], "where: positional argument", "name it: layout=, mesh= or storage=")
    given: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg not in _PARTS or keyword.arg in given:
            p.refuse(keyword.value, f"where: unexpected argument '{keyword.arg}'", "where takes layout, mesh, storage")
        value = p.evaluate(keyword.value)
        if keyword.arg == "layout":
            value = resolve_layout(p, keyword.value, value)
        elif keyword.arg == "mesh" and isinstance(value, Mesh) and value not in p.meshes:
            p.refuse(keyword.value, "where: this mesh is not in scope here", "open it: 'with Mesh(...) as m:'")
        given[keyword.arg] = value
    with p.located(node):
        return ScheduleConstraintMetadata(**given)  # type: ignore[arg-type]  # the record checks its fields
