"""``for i in range(...)`` and ``for i in tile(...)``, optionally ``@ mesh.axis``: loops with carried values.

A name that has a run-time value before the loop and is assigned in its body is carried from one iteration to the next;
any other name assigned in the body lives for one iteration. After a loop that carries nothing and runs for certain,
such a name has its value of the last iteration, which needs none of the others.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tilefoundry.dsl.markers import Tile
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import GridRegionExpr, TupleGetItem
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.shard import Mesh, MeshAxis
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Index, Window, as_index, describe, is_index


@dataclass(frozen=True)
class Header:
    """What a ``for`` runs over."""

    start: Index
    extent: Index
    step: int
    is_tile: bool
    spread: MeshAxis | None


@dataclass(frozen=True)
class Carry:
    """A name that an iteration takes over from the one before."""

    var: Var
    init: Expr


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
        where = assigned[variable.name]
        p.refuse(where, f"loop variable '{variable.name}' is assigned in the loop", "use another name")
    if variable.name in p.scope:
        p.refuse(node.target, f"loop variable '{variable.name}' hides a value of that name", "use another name")
    outer = p.scope
    carries = {
        name: Carry(Var(name, value.type, metadata=p.metadata(node)), value)
        for name in assigned
        if isinstance(value := read_coordinate(p, node, outer.get(name)), Expr)
    }
    p.scope = {**outer, **{name: carry.var for name, carry in carries.items()}}
    p.scope[variable.name] = Window(variable, header.step) if header.is_tile else variable
    p.loops += 1
    known = p.calls.inner()
    p.run(node.body)
    p.calls.outer(known)
    p.loops -= 1
    inner, p.scope = p.scope, outer
    for name in (*assigned, variable.name):
        if name not in outer:
            p.gone[name] = f"it was assigned only inside the loop at line {node.lineno}"
    _check_constants(p, assigned, outer, inner)
    changed = {name: carry for name, carry in carries.items() if inner[name] is not carry.var}
    if changed:
        yields = [_yielded(p, assigned[name], carry, inner[name]) for name, carry in changed.items()]
        same = {carry.var: carry.init for name, carry in carries.items() if name not in changed}
        if same:  # carries that turned out not to change are their initial values
            settle = Rewriter(same)  # one for all: what the values share stays shared
            yields = [settle.expr(value) for value in yields]
        _close(p, node, header, variable, changed, yields)
    elif (last := _last_index(header)) is not None:
        settle = Rewriter({variable: last, **{carry.var: carry.init for carry in carries.values()}})
        for name in assigned:
            if name not in outer and isinstance(value := inner.get(name), Expr):
                p.bind(name, settle(value))


def _last_index(header: Header) -> Constant | None:
    """The loop variable in the last iteration; None where the loop may run none, or in no order."""
    start, extent, step = header.start, header.extent, header.step
    if header.spread is not None or not isinstance(start, int) or not isinstance(extent, int) or extent <= start:
        return None
    return Constant(start + (extent - 1 - start) // step * step, INDEX_TYPE)


def _yielded(p: Parser, where: ast.AST, carry: Carry, value: object) -> Expr:
    """A carry's value after one iteration, of the type that it has before."""
    name, before = carry.var.name, carry.var.type
    if not isinstance(value, Expr):
        p.refuse(
            where,
            f"carried name '{name}' is {before} before the loop, {describe(value)} after one iteration",
            "give the name a tensor of the same type in the loop, or use another name",
        )
    if value.type != before:
        p.refuse(
            where,
            f"carried name '{name}' changes its type in the loop: {before} before, {value.type} after one iteration",
            remedy="cast or reshard it to the type that it has before the loop, or use another name",
        )
    return value


def _check_constants(
    p: Parser, assigned: dict[str, ast.AST], outer: dict[str, object], inner: dict[str, object]
) -> None:
    """A parse-time value cannot change from one iteration to the next."""
    for name, where in assigned.items():
        if name not in outer or isinstance(outer[name], (Expr, MeshAxis)):  # these are carried
            continue
        before, after = outer[name], inner[name]
        if isinstance(before, tuple) and before is not after and any(isinstance(v, Expr) for v in before):
            p.refuse(
                where,
                f"'{name}' is a tuple of run-time values, which a loop does not carry",
                remedy="give each element a name of its own before the loop: a, b = ...",
            )
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
    p: Parser, node: ast.For, header: Header, variable: Var, carries: dict[str, Carry], yields: list[Expr]
) -> None:
    """Builds the region, and binds the carried names to its results."""
    args = tuple(carry.var for carry in carries.values())
    inits = tuple(carry.init for carry in carries.values())
    with p.located(node):
        region = GridRegionExpr(
            variable,
            args,
            inits,
            None,
            tuple(yields),
            header.extent,
            header.step,
            header.start,
            header.spread,
            metadata=p.metadata(node),
        )
    for k, name in enumerate(carries):
        p.bind(name, region if len(yields) == 1 else Call(TupleGetItem(k), (region,), metadata=p.metadata(node)))


def _header(p: Parser, node: ast.expr) -> Header:
    spread: MeshAxis | None = None
    where: ast.expr = node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        where = node.left
        spread = _spread_axis(p, node.right)
    if not isinstance(where, ast.Call):
        p.refuse(
            where, "expected range(...) or tile(...) after 'in'", "write 'for i in range(n):', or run over a tuple"
        )
    function = p.evaluate(where.func)
    if function is not range and not isinstance(function, Tile):
        p.refuse(
            where,
            f"expected range(...) or tile(...) after 'in', got {describe(function)}",
            "iterate over extents, or run over a tuple",
        )
    name = "tile" if isinstance(function, Tile) else "range"
    if where.keywords:
        p.refuse(where.keywords[0].value, f"{name} takes no keyword arguments", "pass them by position")
    bounds: list[Index] = []
    for argument in where.args:
        value = None if isinstance(argument, ast.Starred) else read_coordinate(p, argument, p.evaluate(argument))
        if not is_index(value) or (isinstance(value, Window) and isinstance(function, Tile) and len(bounds) == 1):
            p.refuse(
                argument,
                f"{name}: expected an int or an extent, got {describe(value)}",
                "write an int, a DimVar, x.shape[k], or arithmetic on these",
            )
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
        p.refuse(
            node.args[-1],
            f"{name}: the step must be a positive int known at compile time, got {describe(step)}",
            "write a positive int, or capture one by name",
        )
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
