"""Expressions of kernels: arithmetic on scalars, calls of the ops of ``T``, types and instructions among attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var, type_of
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, IRMetadata
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import Layout, ShardLayout
from tilefoundry.ir.text.script.analysis import is_coordinate, is_index_value
from tilefoundry.ir.text.script.expressions import ATOM, Expressions, Text, inferred_type
from tilefoundry.ir.text.script.values import ScriptValues
from tilefoundry.ir.text.walk import notes_of
from tilefoundry.ir.tir import ATOMS, MmaAtom, ShapeOf, ValueOp
from tilefoundry.ir.types import TensorType


class KernelValues(ScriptValues):
    """Prints attributes of the ops of a kernel."""

    def record(self, value: object) -> str:
        """A matrix instruction by its name."""
        if isinstance(value, MmaAtom) and ATOMS.get(value.name) == value:
            return f"{self.names.dsl('T')}.cuda.mma.{value.name}"
        return super().record(value)

    def type(self, type_: Type) -> str:
        """A type; one whose strides are open is written as an object, since ``Tensor[...]`` decides them."""
        layout = type_.layout if isinstance(type_, TensorType) else None
        plain = layout.layout if isinstance(layout, ShardLayout) else layout
        if not (isinstance(type_, TensorType) and isinstance(plain, Layout) and plain.strides is None):
            return super().type(type_)
        assert layout is not None
        storage = f"{self.names.imported('tilefoundry.ir.types', 'StorageKind')}.{type_.storage.name}"
        parts = [self.value(type_.shape), self.dtype(type_.dtype), self.layout(layout), storage]
        return f"{self.names.imported('tilefoundry.ir.types', 'TensorType')}({', '.join(parts)})"


class KernelExpressions(Expressions):
    """Prints the expressions of one kernel, all of them where they are used: statements give the names.

    Args:
        variable: the spelling of a variable.

    Attributes:
        written_inside: bindings that are written inside of the statement that is printed.
    """

    def __init__(self, values: Callable[[Callable[[Expr], str]], KernelValues], variable: Callable[[Var], str]) -> None:
        super().__init__(values(self._atom), ("tf", "T"))
        self._variable = variable
        self.written_inside: dict[Var, Expr] = {}

    def _atom(self, atom: Expr) -> str:
        text, level = self.value(atom)
        return text if level == ATOM else f"({text})"

    def index(self, dim: Dim) -> str:
        """An extent or index."""
        return self.values.dim(dim)

    def scalar(self, value: Expr | int) -> str:
        """A scalar by itself, or what is bound to a name."""
        if isinstance(value, Call) and isinstance(value.target, ValueOp):
            return self.call(value)[0]
        return str(value) if isinstance(value, int) else self.operands((value,))[0]

    def value(self, expr: Expr) -> Text:
        """A variable by its name, anything else in full."""
        match expr:
            case Var():
                if expr in self.written_inside:
                    return self.value(self.written_inside[expr])
                return self._variable(expr), ATOM
            case ShapeOf(param, axis):
                return f"{self._variable(param)}.shape[{axis}]", ATOM
            case Call():
                return self.call(expr)
        raise ExtractError(f"{expr!r} has no spelling in a kernel", remedy="print the canonical text instead")

    def special(self, call: Call) -> Text | None:
        """``m.x``: the coordinate of the running unit."""
        target = call.target
        return (self.values.mesh_axis(target.axis), ATOM) if is_coordinate(call) else None  # type: ignore[attr-defined]

    def effect(self, op: Op, args: Sequence[Expr | int]) -> str:
        """``T.copy(a, b)``"""
        inferred_type(op, args)
        return self.by_name(op, args)

    def check(self, call: Call) -> None:
        """A call has the type and the scopes that reading it back gives it."""
        target = call.target
        assert isinstance(target, Op)
        expected: Type
        scopes: list[IRMetadata] = []
        if isinstance(target, ValueOp):
            expected = inferred_type(target, call.args)
        else:
            inferred = inferred_type(target, tuple(map(_as_scalar, call.args)))
            if not isinstance(inferred, TensorType) or inferred.shape:
                raise ExtractError(
                    f"a kernel holds {type(target).__name__}, which gives a new tensor",
                    remedy="use the op of T that writes into memory",
                )
            expected = TensorType.umat_scalar(inferred.dtype)
            opened = tuple(mesh for mesh, _ in self.values.open)
            if opened and not is_coordinate(call):
                scopes = [ExecutionDomainMetadata(opened)]
        if call.type != expected or (not is_coordinate(call) and notes_of(call.metadata) != scopes):
            raise ExtractError(
                f"a call of {type(target).__name__} has a type or scopes that reading it back would not give it",
                remedy="print the canonical text instead",
            )


def _as_scalar(arg: Expr | int) -> Expr | int:
    """The operand as the front end sees it: the memory that a scalar is read from makes no difference."""
    type_ = type_of(arg)
    if isinstance(arg, (int, Constant)) or is_index_value(arg) or not isinstance(type_, TensorType) or type_.shape:
        return arg
    return Var("x", TensorType.umat_scalar(type_.dtype))
