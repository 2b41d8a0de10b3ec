"""Statements: assignment, ``with Mesh``, ``if`` and ``for`` at parse time, ``return``; the table of all handlers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tilefoundry.dsl.markers import SurfaceOp
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import TupleGetItem
from tilefoundry.ir.shard import Mesh
from tilefoundry.python.constraints import annotated
from tilefoundry.python.loops import loop
from tilefoundry.python.operators import truth
from tilefoundry.python.parser import Parser, StatementHandler
from tilefoundry.python.values import describe, is_index


def assign(p: Parser, node: ast.AST) -> None:
    """``name = value``, ``a, b = value``, chains of these."""
    assert isinstance(node, ast.Assign)
    value = p.evaluate(node.value)
    for target in node.targets:
        _assign_target(p, node.value, target, value)


def _assign_target(p: Parser, source: ast.expr, target: ast.expr, value: object) -> None:
    if isinstance(target, ast.Name):
        p.bind(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = _parts(p, source, value)
        if any(isinstance(element, ast.Starred) for element in target.elts):
            p.refuse(target, "a starred name on the left side", "name each element")
        if len(parts) != len(target.elts):
            p.refuse(target, f"{len(target.elts)} names for {len(parts)} values", "give each value a name")
        for element, part in zip(target.elts, parts, strict=True):
            _assign_target(p, source, element, part)
    elif isinstance(target, ast.Subscript):
        p.refuse(
            target,
            "a tensor is a value: elements cannot be assigned",
            remedy="write out = tf.insert_slice(out, update, offsets)",
        )
    else:
        p.refuse(target, "expected a name on the left side of '='", "assign to a plain local name")


def _parts(p: Parser, source: ast.expr, value: object) -> tuple[object, ...]:
    parts = _elements(p, source, value)
    if parts is None:
        p.refuse(
            source,
            f"expected several values to unpack, got {describe(value)}",
            "unpack a tuple, or a call that returns several tensors; slice a tensor: x[0], x[1]",
        )
    return parts


def _elements(p: Parser, source: ast.expr, value: object) -> tuple[object, ...] | None:
    """What a tuple holds, at parse time or at run time; None for another value."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, Tuple):  # what an elaborated function returned
        return value.elements
    if isinstance(value, Expr) and isinstance(value.type, TupleType):
        return tuple(p.call(source, TupleGetItem(k), (value,)) for k in range(len(value.type.fields)))
    return None


def augmented(p: Parser, node: ast.AST) -> None:
    """``x += y`` is refused: values do not change."""
    assert isinstance(node, ast.AugAssign)
    target = ast.unparse(node.target)
    p.refuse(node, "an augmented assignment changes a value in place", f"write {target} = {target} + ...")


def scope(p: Parser, node: ast.AST) -> None:
    """``with Mesh(...) as m, ...:``"""
    assert isinstance(node, ast.With)
    if p.loops:
        p.refuse(node, "'with' inside a loop", "open the mesh scopes around the loop")
    depth = len(p.meshes)
    for item in node.items:
        mesh = p.evaluate(item.context_expr)
        if not isinstance(mesh, Mesh):
            p.refuse(
                item.context_expr, f"expected a Mesh after 'with', got {describe(mesh)}", "write 'with Mesh(...) as m:'"
            )
        for open_mesh in p.meshes:
            both = {t.name for t in open_mesh.topologies} & {t.name for t in mesh.topologies}
            if both:
                p.refuse(
                    item.context_expr,
                    f"topology '{min(both)}' is open already in an outer mesh scope",
                    remedy="use the outer mesh, or close its scope first",
                )
        p.meshes.append(mesh)
        if item.optional_vars is not None:
            if not isinstance(item.optional_vars, ast.Name):
                p.refuse(item.optional_vars, "expected a name after 'as'", "write 'with Mesh(...) as m:'")
            p.bind(item.optional_vars.id, mesh)
    p.run(node.body)
    del p.meshes[depth:]


def branch(p: Parser, node: ast.AST) -> None:
    """``if`` on a compile-time condition: only the taken branch is parsed."""
    assert isinstance(node, ast.If)
    p.run(node.body if truth(p, node.test, p.evaluate(node.test)) else node.orelse)


def repeat(p: Parser, node: ast.AST) -> None:
    """``for`` over the elements of a tuple: the body is parsed once for each, as if written so. Else a loop."""
    assert isinstance(node, ast.For)
    items = None if node.orelse else _items(p, node.iter)
    if items is None:
        loop(p, node)
        return
    for item in items:
        _assign_target(p, node.iter, node.target, item)
        p.run(node.body)
        if p.result is not None:
            return


def _items(p: Parser, node: ast.expr) -> tuple[object, ...] | None:
    """The elements of a tuple, or ``enumerate`` of one; None for what a loop runs over, and for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return None
    if isinstance(node, ast.Call):
        function = p.evaluate(node.func)
        if function is enumerate:
            inner = _items(p, node.args[0]) if len(node.args) == 1 and not node.keywords else None
            if inner is None:
                p.refuse(
                    node,
                    "expected range(...) or tile(...) after 'in', got an enumerate of something else than one tuple",
                    "enumerate a tuple of values or of child modules, from 0 on",
                )
            return tuple(enumerate(inner))
        if not isinstance(function, (SurfaceOp, Function, Module)):
            return None
    return _elements(p, node, p.evaluate(node))


def give_back(p: Parser, node: ast.AST) -> None:
    """``return value`` or ``return a, b``."""
    assert isinstance(node, ast.Return)
    if p.loops:
        p.refuse(node, "'return' inside a loop", "assign the value in the loop and return it afterwards")
    if node.value is None:
        p.refuse(node, "'return' without a value", "return a tensor or a tuple of tensors")
    p.result, p.returned = _result(p, node.value, p.evaluate(node.value)), node.value


def _result(p: Parser, node: ast.AST, value: object) -> Expr:
    if isinstance(value, Expr) and not is_index(value):
        return value
    if isinstance(value, tuple) and value:
        return Tuple(tuple(_result(p, node, v) for v in value), metadata=p.metadata(node))
    p.refuse(
        node,
        f"expected a tensor or a tuple of tensors to return, got {describe(value)}",
        "return what a tf op gives; for a number or an extent, tf.full_like(x, value)",
    )


def expression(p: Parser, node: ast.AST) -> None:
    """A docstring is fine; a value that nobody names has no effect."""
    assert isinstance(node, ast.Expr)
    if isinstance(node.value, ast.Constant) and (isinstance(node.value.value, str) or node.value.value is ...):
        return
    p.evaluate(node.value)
    p.refuse(node, "the value of this statement is dropped", "assign it: x = ...; ops have no side effects")


def nothing(p: Parser, node: ast.AST) -> None:
    """``pass``"""


STATEMENTS: Mapping[type[ast.AST], StatementHandler] = {
    ast.AnnAssign: annotated,
    ast.Assign: assign,
    ast.AugAssign: augmented,
    ast.Expr: expression,
    ast.For: repeat,
    ast.If: branch,
    ast.Pass: nothing,
    ast.Return: give_back,
    ast.With: scope,
}
