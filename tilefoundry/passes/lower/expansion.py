"""Ops that are compositions of others: a rule rebuilds the call from primitive ops, which then lower as usual.

The rule of an op states its formula once more, in the type in which the op computes; every call that it makes carries
the place of the call that it expands, so what cannot be compiled is refused where the author wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var, replace_metadata
from tilefoundry.ir.core.metadata import BindingMetadata, span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import Binary, BinaryKind, Cast, Reduce, ReduceKind, Reshape, Unary, UnaryKind, Where
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Parts, Value

Rule = Callable[["Primitives", Call], Expr]
_RULES: dict[type[Op], Rule] = {}


def expands(op: type[Op]) -> Callable[[Rule], Rule]:
    """Registers the decorated function as what calls of ``op`` stand for: a Tuple where the op has several values."""

    def register(rule: Rule) -> Rule:
        _RULES[op] = rule

        @lowers(op)
        def lower(ctx: Lowering, call: Call) -> Value:
            expanded = replace_metadata(rule(Primitives(call), call), *call.metadata)
            ctx.stands_for(call, expanded)
            if isinstance(expanded, Tuple):
                return Parts(tuple(ctx.lower(e) for e in expanded.elements if isinstance(e, Expr)))
            value = ctx.lower(expanded)
            if not isinstance(value, Var) or tensor_type(value).storage is not StorageKind.RMEM:
                return value
            if value.type != call.type:  # the same part, with strides that the author gave
                dst = ctx.result(call, value.name)
                ctx.emit(tir.Copy(), ctx.broadcast(call, value, tensor_type(call)), dst)
                return dst
            return value

        return rule

    return register


def is_expanded(op: type[Op]) -> bool:
    """Whether calls of ``op`` stand for compositions of primitive ops."""
    return op in _RULES


def expansion_of(call: Call) -> Expr | None:
    """The primitive ops that a call stands for, a Tuple where it has several values; None for calls of primitives."""
    rule = _RULES.get(type(call.target))  # type: ignore[arg-type]
    return None if rule is None else replace_metadata(rule(Primitives(call), call), *call.metadata)


class Primitives:
    """Builds the calls that one call stands for.

    Args:
        call: what is expanded; its place is that of all that is built.
    """

    def __init__(self, call: Call) -> None:
        self._metadata = tuple(m for m in call.metadata if not isinstance(m, BindingMetadata))

    def refuse(self, message: str, remedy: str) -> NoReturn:
        """Raises VerifyError at the place of the call."""
        raise VerifyError(message, span=span_of(self._metadata), remedy=remedy)

    def call(self, op: Op, *args: Expr) -> Call:
        """A call of any op."""
        return Call(op, args, metadata=self._metadata)

    def unary(self, kind: UnaryKind, x: Expr) -> Call:
        """``kind(x)``."""
        return self.call(Unary(kind), x)

    def binary(self, kind: BinaryKind, lhs: Expr | float, rhs: Expr | float) -> Call:
        """``kind(lhs, rhs)``, of which one may be a number."""
        return self.call(Binary(kind), *self._operands(lhs, rhs))

    def add(self, lhs: Expr | float, rhs: Expr | float) -> Call:
        """``lhs + rhs``."""
        return self.binary(BinaryKind.ADD, lhs, rhs)

    def sub(self, lhs: Expr | float, rhs: Expr | float) -> Call:
        """``lhs - rhs``."""
        return self.binary(BinaryKind.SUB, lhs, rhs)

    def mul(self, lhs: Expr | float, rhs: Expr | float) -> Call:
        """``lhs * rhs``."""
        return self.binary(BinaryKind.MUL, lhs, rhs)

    def div(self, lhs: Expr | float, rhs: Expr | float) -> Call:
        """``lhs / rhs``."""
        return self.binary(BinaryKind.DIV, lhs, rhs)

    def where(self, condition: Expr, then: Expr | float, otherwise: Expr | float) -> Call:
        """``then`` where the condition holds, else ``otherwise``, of which one may be a number."""
        return self.call(Where(), condition, *self._operands(then, otherwise))

    def reduce(self, kind: ReduceKind, x: Expr, axes: tuple[int, ...]) -> Call:
        """``x`` reduced along axes that stay, with extent 1."""
        return self.call(Reduce(axes, True, kind), x)

    def reshape(self, x: Expr, shape: Sequence[ShapeDim]) -> Expr:
        """``x`` under another shape."""
        return self.call(Reshape(tuple(shape)), x)

    def cast(self, x: Expr, dtype: DType) -> Expr:
        """``x`` in another dtype; itself where it has that."""
        return x if tensor_type(x).dtype is dtype else self.call(Cast(dtype), x)

    def wide(self, x: Expr) -> Expr:
        """``x`` in the type in which ops compute that round once: f32, or f64 for f64."""
        return self.cast(x, compute_dtype(tensor_type(x).dtype))

    def _operands(self, *given: Expr | float) -> list[Expr]:
        """Operands of one dtype: a number becomes a literal of the dtype of the others."""
        dtype = next(tensor_type(x).dtype for x in given if isinstance(x, Expr))
        literal = TensorType.umat_scalar(dtype)
        return [x if isinstance(x, Expr) else Constant(x, literal, self._metadata) for x in given]


def compute_dtype(dtype: DType) -> DType:
    """f64 for f64, else f32."""
    return DType.f64 if dtype is DType.f64 else DType.f32


def operand(call: Call, index: int = 0) -> Expr:
    """An operand of a call of an op that takes tensors."""
    x = call.args[index]
    assert isinstance(x, Expr)
    return x
