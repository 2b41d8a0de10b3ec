"""The statements of kernels, and the table of their handlers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.operators import truth
from tilefoundry.python.parser import Parser, StatementHandler
from tilefoundry.python.prim.loops import count
from tilefoundry.python.prim.parser import Effect, PrimParser
from tilefoundry.python.prim.scopes import scope
from tilefoundry.python.statements import nothing
from tilefoundry.python.values import describe


def assign(p: Parser, node: ast.AST) -> None:
    """``name = value``, ``a, b = values`` of the compile time, chains of these."""
    assert isinstance(node, ast.Assign) and isinstance(p, PrimParser)
    value = read_coordinate(p, node.value, p.evaluate(node.value))
    for target in node.targets:
        _assign_target(p, node, target, value)


def _assign_target(p: PrimParser, node: ast.Assign, target: ast.expr, value: object) -> None:
    if isinstance(target, ast.Name):
        p.bind(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if not isinstance(value, (tuple, list)) or len(value) != len(target.elts):
            p.refuse(target, f"{len(target.elts)} names for {describe(value)}", "give each value a name")
        for element, part in zip(target.elts, value, strict=True):
            _assign_target(p, node, element, part)
    elif isinstance(target, ast.Subscript):
        p.refuse(target, "elements cannot be assigned", "view the part and write into it: T.copy(src, view)")
    else:
        p.refuse(target, "expected a name on the left side of '='", "assign to a plain local name")


def augmented(p: Parser, node: ast.AST) -> None:
    """``x += y`` is refused: an assignment names a value and writes nothing."""
    assert isinstance(node, ast.AugAssign)
    target = ast.unparse(node.target)
    p.refuse(
        node,
        "an augmented assignment changes a value in place",
        f"write T.binary({target}, ..., {target}, kind=BinaryKind.ADD)",
    )


def expression(p: Parser, node: ast.AST) -> None:
    """The call of a statement; a docstring."""
    assert isinstance(node, ast.Expr) and isinstance(p, PrimParser)
    if isinstance(node.value, ast.Constant) and (isinstance(node.value.value, str) or node.value.value is ...):
        return
    value = p.evaluate(node.value)
    if not isinstance(value, Effect):
        p.refuse(node, f"the value of this statement is dropped: {describe(value)}", "give it a name: x = ...")
    p.items.extend(value.items)


def branch(p: Parser, node: ast.AST) -> None:
    """``if``: at run time on a bool scalar; on a compile-time condition only the taken branch is parsed."""
    assert isinstance(node, ast.If) and isinstance(p, PrimParser)
    value = p.evaluate(node.test)
    if not isinstance(value, Expr):
        p.run(node.body if truth(p, node.test, value) else node.orelse)
        return
    condition = condition_of(p, node.test, value)
    then_body = p.block("'if'", node, lambda: p.run(node.body))
    else_body = p.block("'else'", node, lambda: p.run(node.orelse)) if node.orelse else None
    p.items.append(tir.If(condition, then_body, else_body, metadata=p.place(node)))


def repeat(p: Parser, node: ast.AST) -> None:
    """``while`` on a bool scalar, which its body changes in memory."""
    assert isinstance(node, ast.While) and isinstance(p, PrimParser)
    if node.orelse:
        p.refuse(node.orelse[0], "'else' of a 'while'", "put the statements after the loop")
    value = p.evaluate(node.test)
    if not isinstance(value, Expr):
        p.refuse(
            node.test,
            f"the condition of a 'while' never changes: {describe(value)}",
            remedy="compare a rank-0 tensor that the body writes: while n < 8: ... T.binary(n, 1, n, kind=...)",
        )
    condition = condition_of(p, node.test, value)
    body = p.block("'while'", node, lambda: p.run(node.body))
    p.items.append(tir.While(condition, body, metadata=p.place(node)))


def condition_of(p: PrimParser, node: ast.AST, value: Expr) -> Expr:
    """A condition, which must be a bool scalar."""
    if not isinstance(value.type, TensorType) or value.type.shape or value.type.dtype != DType.bool:
        p.refuse(node, f"expected a bool scalar as condition, got {describe(value)}", "compare scalars: i < n")
    return value


def leave(p: Parser, node: ast.AST) -> None:
    """``return``, without a value."""
    assert isinstance(node, ast.Return) and isinstance(p, PrimParser)
    if node.value is not None:
        p.refuse(
            node,
            "'return' with a value: a kernel writes its output parameters",
            remedy="copy the result into the last parameter: T.copy(r, out)",
        )
    if p.expanding:
        p.refuse(node, "'return' in an intrinsic would end its caller", "use 'if' around the rest")
    p.items.append(tir.Return(metadata=p.place(node)))


PRIM_STATEMENTS: Mapping[type[ast.AST], StatementHandler] = {
    ast.Assign: assign,
    ast.AugAssign: augmented,
    ast.Expr: expression,
    ast.For: count,
    ast.If: branch,
    ast.Pass: nothing,
    ast.Return: leave,
    ast.While: repeat,
    ast.With: scope,
}
