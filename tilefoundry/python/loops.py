"""``for i in range(...)`` and ``for i in tile(...)``, optionally ``@ mesh.axis``: loops with carried values.

A name that has a run-time value before the loop and is assigned in its body is carried from one iteration to the next;
any other name assigned in the body lives for one iteration.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tilefoundry.dsl.markers import Tile
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import GridRegionExpr, TupleGetItem
from tilefoundry.ir.shard import Mesh, MeshAxis
from tilefoundry.python.parser import Parser
from tilefoundry.python.rewrite import Rewriter
from tilefoundry.python.values import Index, Window, as_index, describe, is_index


@dataclass(frozen=True)
class Header:
    """What a ``for`` runs over."""

    start: Index
    extent: Index
    step: int
    is_tile: bool
    spread: MeshAxis | None


def loop(p: Parser, node: ast.AST) -> None:
    """Parses a ``for`` statement into a GridRegionExpr and rebinds what it carries."""
    assert isinstance(node, ast.For)
    if not isinstance(node.target, ast.Name):
        p.refuse(node.target, "expected one name as loop variable", "write 'for i in range(n):'")
    if node.orelse:
        p.refuse(node.orelse[0], "'else' of a 'for'", "put the statements after the loop")
    header = _header(p, node.iter)
    variable = Var(node.target.id, INDEX_TYPE, metadata=p.metadata(node.target))
    assigned = assigned_names(node.body)
    if variable.name in assigned:
        p.refuse(
            assigned[variable.name], f"loop variable '{variable.name}' is assigned in the loop", "use another name"
        )
    outer = dict(p.scope)
    carried: dict[str, Var] = {}
    for name in assigned:
        before = outer.get(name)
        if isinstance(before, Expr):
            metadata = tuple(m for m in p.metadata(node) if not isinstance(m, BindingMetadata))
            carried[name] = Var(name, before.type, metadata=metadata)
    p.scope = {**outer, **carried, variable.name: Window(variable, header.step) if header.is_tile else variable}
    p.loops += 1
    p.run(node.body)
    p.loops -= 1
    inner, p.scope = p.scope, outer
    p.scope.pop(variable.name, None)  # Python keeps the last index; there is none when the loop never runs
    for name in (*assigned, variable.name):
        if name not in p.scope:
            p.gone[name] = f"it was assigned only inside the loop at line {node.lineno}"
    _check_constants(p, assigned, outer, inner)
    changed = {name: var for name, var in carried.items() if inner[name] is not var}
    if changed:
        _close(p, node, header, variable, changed, _settled(carried, changed, outer, inner))


def _settled(
    carried: dict[str, Var], changed: dict[str, Var], outer: dict[str, object], inner: dict[str, object]
) -> dict[str, object]:
    """The values after one iteration, where names that turned out not to change keep their outer value."""
    same: dict[Var, Expr | int] = {}
    for name, var in carried.items():
        before = outer[name]
        if name not in changed and isinstance(before, Expr):
            same[var] = before
    if not same:
        return inner
    rewrite = Rewriter(same)
    return {n: rewrite(v) if n in changed and isinstance(v, Expr) else v for n, v in inner.items()}


def _check_constants(
    p: Parser, assigned: dict[str, ast.AST], outer: dict[str, object], inner: dict[str, object]
) -> None:
    """A parse-time value cannot change from one iteration to the next."""
    for name, where in assigned.items():
        if name not in outer or isinstance(outer[name], Expr):
            continue
        before, after = outer[name], inner[name]
        if before is not after and not _same_constant(before, after):
            p.refuse(
                where,
                f"'{name}' is {describe(before)} before the loop and {describe(after)} after one iteration",
                remedy="use another name; compile-time values do not change in a loop (the loop variable counts)",
            )


def _same_constant(before: object, after: object) -> bool:
    comparable = (bool, int, float, str, tuple, type(None))
    return type(before) is type(after) and isinstance(before, comparable) and before == after


def _close(
    p: Parser, node: ast.For, header: Header, variable: Var, carried: dict[str, Var], inner: dict[str, object]
) -> None:
    yields: list[Expr] = []
    for name, var in carried.items():
        value = inner[name]
        where = assigned_names(node.body)[name]
        if not isinstance(value, Expr):
            p.refuse(
                where, f"carried name '{name}' is {var.type} before the loop and {describe(value)} after one iteration"
            )
        if value.type != var.type:
            p.refuse(
                where,
                f"carried name '{name}' changes its type in the loop: {var.type} before, {value.type} after it",
                remedy="cast or reshard it to the type that it has before the loop, or use another name",
            )
        yields.append(value)
    inits = tuple(tidy_init for name in carried if isinstance(tidy_init := p.scope[name], Expr))
    with p.located(node):
        region = GridRegionExpr(
            variable,
            tuple(carried.values()),
            inits,
            None,
            tuple(yields),
            header.extent,
            header.step,
            header.start,
            header.spread,
            metadata=p.metadata(node),
        )
    for k, name in enumerate(carried):
        value = region if len(yields) == 1 else Call(TupleGetItem(k), (region,), metadata=p.metadata(node))
        p.bind(name, value)


def _header(p: Parser, node: ast.expr) -> Header:
    spread: MeshAxis | None = None
    where: ast.expr = node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        where = node.left
        spread = _spread_axis(p, node.right)
    if not isinstance(where, ast.Call):
        p.refuse(where, "expected range(...) or tile(...) after 'in'", "write 'for i in range(n):'")
    function = p.evaluate(where.func)
    if function is not range and not isinstance(function, Tile):
        p.refuse(
            where, f"expected range(...) or tile(...) after 'in', got {describe(function)}", "iterate over extents"
        )
    name = "tile" if isinstance(function, Tile) else "range"
    if where.keywords:
        p.refuse(where.keywords[0].value, f"{name} takes no keyword arguments", "pass them by position")
    bounds: list[Index] = []
    for argument in where.args:
        value = None if isinstance(argument, ast.Starred) else p.evaluate(argument)
        if not is_index(value) or (isinstance(value, Window) and isinstance(function, Tile) and len(bounds) == 1):
            p.refuse(argument, f"{name}: expected an int or an extent, got {describe(value)}")
        bounds.append(as_index(value))
    return _tile(p, where, bounds, spread) if name == "tile" else _range(p, where, bounds, spread)


def _tile(p: Parser, node: ast.Call, bounds: list[Index], spread: MeshAxis | None) -> Header:
    if len(bounds) != 2:
        remedy = "use range(extent) for a scalar loop" if len(bounds) == 1 else "write tile(extent, step)"
        p.refuse(node, f"tile takes an extent and a step, got {len(bounds)} argument(s)", remedy)
    return Header(0, bounds[0], _step(p, node, "tile", bounds[1]), True, spread)


def _range(p: Parser, node: ast.Call, bounds: list[Index], spread: MeshAxis | None) -> Header:
    if not 1 <= len(bounds) <= 3:
        p.refuse(node, f"range takes 1 to 3 arguments, got {len(bounds)}", "write range(start, stop, step)")
    start, stop = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    return Header(start, stop, _step(p, node, "range", bounds[2] if len(bounds) == 3 else 1), False, spread)


def _step(p: Parser, node: ast.Call, name: str, step: Index) -> int:
    if not isinstance(step, int) or step < 1:
        p.refuse(node.args[-1], f"{name}: the step must be a positive int known at compile time, got {describe(step)}")
    return step


def _spread_axis(p: Parser, node: ast.expr) -> MeshAxis:
    axis = p.evaluate(node)
    if isinstance(axis, Mesh) and axis.rank == 1:
        axis = MeshAxis(axis, 0)
    if not isinstance(axis, MeshAxis):
        p.refuse(
            node, f"expected a mesh axis after '@', got {describe(axis)}", "write 'for i in range(n) @ mesh.axis:'"
        )
    if axis.mesh not in p.meshes:
        p.refuse(
            node, f"mesh axis '{axis.name}' is not in scope here", "open it: 'with Mesh(...) as m:' around the loop"
        )
    return axis


def assigned_names(body: list[ast.stmt]) -> dict[str, ast.AST]:
    """The names that a block assigns, in order, each with the place of its last assignment."""
    found: dict[str, ast.AST] = {}
    todo: list[ast.AST] = list(reversed(body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = node
        todo.extend(reversed(list(ast.iter_child_nodes(node))))
    return found
