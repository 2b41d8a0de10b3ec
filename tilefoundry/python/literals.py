"""Operands of tensor ops: a Python number among them becomes a rank-0 constant of its peers' dtype."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.types import DType, FloatDType, IntegerDType, TensorType
from tilefoundry.ir.types.limits import largest_finite
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Window, describe, is_index, is_number


def operands(p: Parser, node: ast.AST, values: Sequence[object]) -> tuple[Expr, ...]:
    """Expressions for the operands of one op.

    A float adopts the float dtype of the other operand, an int its integer dtype; neither changes kind.
    """
    values = p.levelled(node, values)
    peer = _peer_dtype(values)
    return tuple(_operand(p, node, value, peer) for value in values)


def _operand(p: Parser, node: ast.AST, value: object, peer: DType | None) -> Expr:
    if isinstance(value, Window):
        value = value.start
    if isinstance(value, Expr):
        if is_index(value) and peer is not None and peer not in (DType.i64, DType.bool):
            p.refuse(
                node,
                f"an index scalar is i64, the other operand is {peer}; dtypes never promote",
                remedy=f'convert it: tf.cast(..., "{peer}")',
            )
        return value
    if is_number(value):
        return literal(p, node, value, peer)  # type: ignore[arg-type]
    p.refuse(node, f"expected a tensor or a number, got {describe(value)}", "pass a tensor or a Python number")


def _peer_dtype(values: Sequence[object]) -> DType | None:
    """The dtype that literals adopt: of the tensors first, of other scalars next; conditions do not count."""
    types = [v.type for v in values if isinstance(v, Expr) and not is_index(v) and isinstance(v.type, TensorType)]
    for candidates in ([t for t in types if t.shape], types):
        for type_ in candidates:
            if type_.dtype != DType.bool:
                return type_.dtype
    return DType.i64 if any(is_index(v) and not isinstance(v, int) for v in values) else None


def literal(p: Parser, node: ast.AST, value: bool | int | float, peer: DType | None) -> Constant:
    """A rank-0 constant. Refuses a number that would change kind or that the dtype cannot hold."""
    value = plain_number(value)
    if isinstance(value, bool):
        return Constant(value, TensorType.scalar(DType.bool))
    if isinstance(value, int):
        if isinstance(peer, FloatDType):
            p.refuse(node, f"int literal {value} meets {peer}; ints do not become floats", f"write {value}.0")
        dtype = peer if isinstance(peer, IntegerDType) else DType.i64
        assert isinstance(dtype, IntegerDType)
        least, greatest = dtype.range
        if not least <= value <= greatest:
            p.refuse(
                node,
                f"{value} is out of range of {dtype} [{least}, {greatest}]",
                f"use a number that {dtype} holds, or a wider dtype",
            )
        return Constant(value, INDEX_TYPE if dtype == DType.i64 else TensorType.scalar(dtype))
    if isinstance(peer, FloatDType):
        limit = largest_finite(peer)
        if math.isfinite(value) and abs(value) > limit:
            p.refuse(
                node,
                f"{value} is out of range of {peer} (largest finite value {limit:g})",
                remedy="use a smaller magnitude, -inf, or compute in f32: tf.cast(x, 'f32')",
            )
        return Constant(value, TensorType.scalar(peer))
    if peer is None:
        return Constant(value, TensorType.scalar(DType.f32))
    p.refuse(
        node,
        f"float literal {value} meets {peer}; expected a float operand",
        remedy='write an int, or convert the other operand: tf.cast(x, "f32")',
    )


def plain_number(value: bool | int | float) -> bool | int | float:
    """The number without a subclass of Python's types around it (an IntEnum, a numpy float)."""
    return value if isinstance(value, bool) else int(value) if isinstance(value, int) else float(value)
