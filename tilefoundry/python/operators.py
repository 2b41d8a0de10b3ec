"""Operators: on Python numbers, on index scalars (extents and loop variables), on tensors, and ``@`` for placement."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tilefoundry.ir import dims
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.hir import Binary, BinaryKind, MatMul, Unary, UnaryKind
from tilefoundry.ir.shard import Mesh, MeshAxis, Placed, ValueState
from tilefoundry.ir.types import DType, StorageKind
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.literals import operands
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Index, Window, as_index, describe, is_index, is_number


@dataclass(frozen=True)
class Operator:
    """One operator: its symbol, what it does to Python numbers, to index scalars, and to tensors."""

    symbol: str
    number: Callable[[Any, Any], object]
    kind: BinaryKind | None
    index: Callable[[Index, Index], Index] | None = None


ARITHMETIC: dict[type[ast.operator], Operator] = {
    ast.Add: Operator("+", operator.add, BinaryKind.ADD, dims.dim_add),
    ast.Sub: Operator("-", operator.sub, BinaryKind.SUB, dims.dim_sub),
    ast.Mult: Operator("*", operator.mul, BinaryKind.MUL, dims.dim_mul),
    ast.Div: Operator("/", operator.truediv, BinaryKind.DIV),
    ast.FloorDiv: Operator("//", operator.floordiv, BinaryKind.FLOOR_DIV, dims.dim_floordiv),
    ast.Mod: Operator("%", operator.mod, BinaryKind.MOD, dims.dim_mod),
    ast.Pow: Operator("**", operator.pow, None),
}

COMPARISONS: dict[type[ast.cmpop], Operator] = {
    ast.Eq: Operator("==", operator.eq, BinaryKind.EQ),
    ast.NotEq: Operator("!=", operator.ne, BinaryKind.NE),
    ast.Lt: Operator("<", operator.lt, BinaryKind.LT),
    ast.LtE: Operator("<=", operator.le, BinaryKind.LE),
    ast.Gt: Operator(">", operator.gt, BinaryKind.GT),
    ast.GtE: Operator(">=", operator.ge, BinaryKind.GE),
}

_PLAIN = (bool, int, float, str, type(None), tuple, DType, StorageKind, Enum)
_MAX_BITS = 1024  # of a parse-time integer: extents and literals need 64


def binary(p: Parser, node: ast.AST) -> object:
    """``a + b`` and the like."""
    assert isinstance(node, ast.BinOp)
    lhs, rhs = p.evaluate(node.left), p.evaluate(node.right)
    if isinstance(node.op, ast.MatMult):
        return _at(p, node, lhs, rhs)
    op = ARITHMETIC.get(type(node.op))
    if op is None:
        p.refuse(node, "expected one of + - * / // % **, got a bit operator", "use logical_and, logical_or, //, *")
    return apply(p, node, op, lhs, rhs)


def apply(p: Parser, node: ast.AST, op: Operator, lhs: object, rhs: object) -> object:
    """The value of ``lhs op rhs`` for every kind of operand."""
    lhs, rhs = read_coordinate(p, node, lhs), read_coordinate(p, node, rhs)
    if is_number(lhs) and is_number(rhs):
        return _numbers(p, node, op, lhs, rhs)
    if isinstance(lhs, tuple) and isinstance(rhs, tuple) and op.symbol == "+":
        return lhs + rhs
    for side in (lhs, rhs):
        if not is_number(side) and not isinstance(side, (Expr, Window)):
            p.refuse(
                node,
                f"'{op.symbol}' takes numbers, extents and tensors, got {describe(side)}",
                "use a tensor, a number or an extent on both sides",
            )
    if is_index(lhs) and is_index(rhs) and (op.index is not None or op.symbol == "/"):
        return _indices(p, node, op, lhs, rhs)
    if op.kind is None:
        p.refuse(
            node, f"'{op.symbol}' works on Python numbers only, not on run-time values", "write x * x, or tf.square(x)"
        )
    return p.call(node, Binary(op.kind), operands(p, node, (lhs, rhs)))


def _numbers(p: Parser, node: ast.AST, op: Operator, lhs: object, rhs: object) -> object:
    assert isinstance(lhs, (int, float)) and isinstance(rhs, (int, float))
    power = op.symbol == "**" and isinstance(lhs, int) and isinstance(rhs, int)
    if power and abs(int(lhs)).bit_length() * max(int(rhs), 1) > _MAX_BITS:
        p.refuse(node, f"{lhs} ** {rhs} is too large for an extent or a literal", "use a number that 64 bits hold")
    with p.located(node):
        value = op.number(lhs, rhs)
    if isinstance(value, complex):
        p.refuse(
            node, f"{lhs} {op.symbol} {rhs} is complex; expected a real number", "take the power of a positive number"
        )
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        p.refuse(
            node,
            f"'{op.symbol}' gives an integer of {value.bit_length()} bits; expected at most 64",
            "use numbers that 64 bits hold",
        )
    return value


def _indices(p: Parser, node: ast.AST, op: Operator, lhs: object, rhs: object) -> object:
    if op.index is None:
        p.refuse(node, "'/' of extents is not an integer", remedy="use '//' or ceildiv(a, b)")
    if op.symbol in ("+", "-") and isinstance(lhs, Window) and not isinstance(rhs, Window):
        return _moved(p, node, op, lhs, as_index(rhs))
    if op.symbol == "+" and isinstance(rhs, Window) and not isinstance(lhs, Window):
        return _moved(p, node, op, rhs, as_index(lhs))
    if isinstance(lhs, Window) and isinstance(rhs, Window):
        p.refuse(
            node,
            f"'{op.symbol}' of two tile windows has no window of its own",
            remedy="use 'for i in range(start, extent, step)' for a variable that takes part in index arithmetic",
        )
    with p.located(node):
        return op.index(as_index(lhs), as_index(rhs))


def _moved(p: Parser, node: ast.AST, op: Operator, window: Window, by: Index) -> Window:
    assert op.index is not None
    with p.located(node):
        return Window(op.index(window.start, by), window.size)


def _at(p: Parser, node: ast.BinOp, lhs: object, rhs: object) -> object:
    """``extent @ mesh.axis``, ``mesh.axis @ P("sum")``, or a matrix product."""
    axes = _axes(p, node, rhs)
    if axes is not None:
        if not is_index(lhs):
            p.refuse(node, f"expected an extent before '@ mesh.axis', got {describe(lhs)}", "write e.g. 64 @ m.x")
        with p.located(node):
            return Placed(as_index(lhs), axes)
    if isinstance(lhs, MeshAxis):
        return ValueState(lhs, rhs)
    if isinstance(lhs, Expr) and isinstance(rhs, Expr):
        return p.call(node, MatMul(None), (lhs, rhs))
    p.refuse(
        node,
        f"'@' places an extent on a mesh axis or multiplies two tensors; got {describe(lhs)} @ {describe(rhs)}",
        remedy="write 'extent @ mesh.axis', or '@' between two tensors",
    )


def _axes(p: Parser, node: ast.AST, value: object) -> tuple[MeshAxis, ...] | None:
    if isinstance(value, MeshAxis):
        return (value,)
    if isinstance(value, Mesh):
        if value.rank != 1:
            p.refuse(
                node, f"a mesh of {value.rank} axes cannot be placed on as a whole", f"name an axis: {value.names}"
            )
        return (MeshAxis(value, 0),)
    if isinstance(value, tuple) and value and all(isinstance(v, MeshAxis) for v in value):
        return value
    return None


def unary(p: Parser, node: ast.AST) -> object:
    """``-a``, ``+a``, ``not a``."""
    assert isinstance(node, ast.UnaryOp)
    value = read_coordinate(p, node.operand, p.evaluate(node.operand))
    if isinstance(node.op, ast.Not):
        if isinstance(value, (Expr, Window)) and not is_index(value):
            assert isinstance(value, Expr)
            return p.call(node, Unary(UnaryKind.NOT), (value,))
        return not truth(p, node.operand, value)
    if isinstance(node.op, ast.Invert):
        p.refuse(node, "expected -, + or not, got '~'", remedy="use tf.logical_not(x) or 'not x'")
    if is_number(value):
        return -value if isinstance(node.op, ast.USub) else +value  # type: ignore[operator]
    if is_index(value):
        with p.located(node):
            return value if isinstance(node.op, ast.UAdd) else dims.dim_sub(0, as_index(value))
    if isinstance(value, Expr):
        return value if isinstance(node.op, ast.UAdd) else p.call(node, Unary(UnaryKind.NEG), (value,))
    p.refuse(
        node,
        f"expected a number or a tensor after the sign, got {describe(value)}",
        "write -x of a number, an extent or a tensor",
    )


def boolean(p: Parser, node: ast.AST) -> object:
    """``a and b``, ``a or b``: decided at parse time where the left side is known, else logical_and, logical_or."""
    assert isinstance(node, ast.BoolOp)
    is_and = isinstance(node.op, ast.And)
    kind = BinaryKind.AND if is_and else BinaryKind.OR
    value = p.evaluate(node.values[0])
    for previous, item in zip(node.values, node.values[1:], strict=False):
        if not isinstance(value, (Expr, Window)):
            if truth(p, previous, value) != is_and:
                return value
            value = p.evaluate(item)
        else:
            value = p.call(node, Binary(kind), operands(p, node, (value, p.evaluate(item))))
    return value


def compare(p: Parser, node: ast.AST) -> object:
    """``a < b`` on numbers and tensors; ``is``, ``in`` on parse-time values. Chains only where all is known."""
    assert isinstance(node, ast.Compare)
    values = [read_coordinate(p, v, p.evaluate(v)) for v in (node.left, *node.comparators)]
    if len(node.ops) > 1 and any(isinstance(v, (Expr, Window)) for v in values):
        p.refuse(node, "a chain of comparisons on run-time values", remedy="write (a < b) and (b < c)")
    result: object = True
    for op, lhs, rhs in zip(node.ops, values, values[1:], strict=False):
        result = _compare(p, node, op, lhs, rhs)
        if result is False:
            return False
    return result


def _compare(p: Parser, node: ast.Compare, op: ast.cmpop, lhs: object, rhs: object) -> object:
    if isinstance(op, (ast.Is, ast.IsNot)):
        return (lhs is rhs) == isinstance(op, ast.Is)
    known = COMPARISONS.get(type(op))
    if any(isinstance(v, (Expr, Window)) for v in (lhs, rhs)):
        if known is None:
            p.refuse(
                node,
                "'in' works on compile-time values only, not on run-time values",
                "compare element by element: tf.logical_or(x == a, x == b)",
            )
        return apply(p, node, known, lhs, rhs)
    for side in (lhs, rhs):
        if not isinstance(side, _PLAIN):
            p.refuse(
                node,
                f"expected numbers, strings, tuples or tensors to compare, got {describe(side)}",
                "compare numbers, strings, tuples, dtypes or tensors; compute other conditions outside",
            )
    with p.located(node):
        if known is None:
            inside = lhs in rhs  # type: ignore[operator]  # a TypeError is located
            return inside if isinstance(op, ast.In) else not inside
        return bool(known.number(lhs, rhs))


def truth(p: Parser, node: ast.AST, value: object) -> bool:
    """Whether a parse-time value counts as true; refuses run-time values."""
    if isinstance(value, (Expr, Window)):
        p.refuse(
            node,
            f"expected a condition known at compile time, got {describe(value)}",
            remedy="use tf.where(condition, a, b) to select between run-time values",
        )
    if not isinstance(value, (*_PLAIN, list, dict)):
        p.refuse(node, f"expected a bool, got {describe(value)}", "write a comparison, or capture a bool")
    return bool(value)


def conditional(p: Parser, node: ast.AST) -> object:
    """``a if condition else b`` on a compile-time condition; only the chosen side is parsed."""
    assert isinstance(node, ast.IfExp)
    return p.evaluate(node.body if truth(p, node.test, p.evaluate(node.test)) else node.orelse)
