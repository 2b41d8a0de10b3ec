"""``for i in range(...)`` in a kernel: bounds are any integer scalars."""

from __future__ import annotations

import ast

from tilefoundry.dsl.markers import Tile
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.types import TensorType
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.loops import assigned_names
from tilefoundry.python.parser import Parser
from tilefoundry.python.prim.parser import PrimParser, is_scalar
from tilefoundry.python.values import as_index, describe, is_index

Bound = Expr | int


def count(p: Parser, node: ast.AST) -> None:
    """A counting loop."""
    assert isinstance(node, ast.For) and isinstance(p, PrimParser)
    target = node.target
    if not isinstance(target, ast.Name):
        p.refuse(target, "expected one name as loop variable", "write 'for i in range(n):'")
    if node.orelse:
        p.refuse(node.orelse[0], "'else' of a 'for'", "put the statements after the loop")
    start, stop, step = _bounds(p, node.iter)
    if target.id in p.scope:
        p.refuse(target, f"loop variable '{target.id}' hides a value of that name", "use another name")
    assigned = assigned_names(node.body)
    if target.id in assigned:
        p.refuse(assigned[target.id], f"loop variable '{target.id}' is assigned in the loop", "use another name")
    type_ = _type((start, stop, step))
    variable = Var(target.id, type_, metadata=(*p.place(target), BindingMetadata(target.id)))

    def fill() -> None:
        p.scope[target.id] = variable
        p.run(node.body)

    body = p.block("'for'", node, fill)
    p.items.append(tir.For(variable, start, stop, step, body, metadata=p.place(node)))


def _bounds(p: PrimParser, node: ast.expr) -> tuple[Bound, Bound, Bound]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        p.refuse(
            node,
            "iterations of a kernel's loop are not spread by '@'",
            remedy="start at the unit's coordinate and step by the extent: range(m.x, n, 4)",
        )
    function = p.evaluate(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or function is not range:
        tile = " (a kernel views its windows: T.tensor_view(x, i, shape=(16,)))" if isinstance(function, Tile) else ""
        p.refuse(node, "expected range(...) after 'in'", f"write 'for i in range(start, stop, step):'{tile}")
    if node.keywords:
        p.refuse(node.keywords[0].value, "range takes no keyword arguments", "pass them by position")
    if not 1 <= len(node.args) <= 3:
        p.refuse(node, f"range takes 1 to 3 arguments, got {len(node.args)}", "write range(start, stop, step)")
    bounds = [as_index(b) for b in p.levelled(node, [_bound(p, argument) for argument in node.args])]
    start, stop = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    step = bounds[2] if len(bounds) == 3 else 1
    if isinstance(step, int) and step < 1:
        p.refuse(node.args[-1], f"range: the step must be positive, got {step}", "count upwards, and mirror the index")
    return start, stop, step


def _bound(p: PrimParser, node: ast.expr) -> Bound:
    if isinstance(node, ast.Starred):
        p.refuse(node, "'*' in a call", "write the arguments one by one")
    value = read_coordinate(p, node, p.evaluate(node))
    if is_index(value):
        return as_index(value)
    if isinstance(value, Expr) and is_scalar(value) and value.type.dtype.is_integer:  # type: ignore[attr-defined]
        return p.operand(node, value)
    p.refuse(node, f"range: expected an integer, got {describe(value)}", "use an int, an extent or an integer scalar")


def _type(bounds: tuple[Bound, Bound, Bound]) -> TensorType:
    """The type of the variable: that of the bounds; i64 where all are plain ints."""
    types = [b.type for b in bounds if isinstance(b, Expr) and isinstance(b.type, TensorType)]
    return TensorType.umat_scalar(types[0].dtype) if types else INDEX_TYPE
