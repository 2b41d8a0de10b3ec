"""Expressions of kernels: those of tensor programs, with calls and extents of their own."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.types import TensorType
from tilefoundry.python.expressions import EXPRESSIONS, attribute
from tilefoundry.python.parser import ExpressionHandler, Parser
from tilefoundry.python.prim.calls import call
from tilefoundry.python.prim.parser import PrimParser
from tilefoundry.python.subscripts import part_of


def prim_attribute(p: Parser, node: ast.AST) -> object:
    """``x.shape`` of a parameter holds its dynamic extents as the caller passes them; the rest as elsewhere."""
    assert isinstance(node, ast.Attribute) and isinstance(p, PrimParser)
    if node.attr == "shape":
        value = p.evaluate(node.value)
        if isinstance(value, Var) and value in p.params and isinstance(value.type, TensorType):
            return tuple(
                extent if isinstance(extent, int) else tir.ShapeOf(value, axis, p.place(node))
                for axis, extent in enumerate(value.type.shape)
            )
    return attribute(p, node)


def prim_subscript(p: Parser, node: ast.AST) -> object:
    """An element of a captured sequence; a kernel views parts of tensors instead, at any index."""
    assert isinstance(node, ast.Subscript)
    value = p.evaluate(node.value)
    if isinstance(value, Expr):
        p.refuse(node, "a subscript of a tensor in a kernel", "view a part of it: T.tensor_view(x, i, j, shape=(8, 8))")
    return part_of(p, node, value)


PRIM_EXPRESSIONS: Mapping[type[ast.AST], ExpressionHandler] = {
    **EXPRESSIONS,
    ast.Attribute: prim_attribute,
    ast.Call: call,
    ast.Subscript: prim_subscript,
}
