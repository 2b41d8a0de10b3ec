"""What a name or an expression may stand for while a function is parsed.

A run-time value is an `Expr`. Everything else is known at parse time: Python numbers, strings and tuples, meshes and
their axes, op names, and the `Window` of a ``tile`` loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType

from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, is_dim_expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import MeshCoordinate
from tilefoundry.ir.shard import Mesh, MeshAxis, ValueState
from tilefoundry.ir.types import DType, StorageKind, TensorType

Index = Expr | int


@dataclass(frozen=True)
class Window:
    """The variable of a ``tile`` loop, or one moved by a constant: the elements [start, start + size) of an axis.

    Attributes:
        start: first element; the scalar that the variable is in arithmetic.
        size: number of elements, the step of the loop.
    """

    start: Index
    size: int


@dataclass(frozen=True)
class StateSet:
    """The value states of a layout, written in braces."""

    states: tuple[ValueState, ...]


class Described:
    """An object of the front end that says what it is."""

    @property
    def described(self) -> str:
        """What the object is, in the words of a message."""
        raise NotImplementedError


def is_number(value: object) -> bool:
    """A Python bool, int or float."""
    return isinstance(value, (bool, int, float))


def is_index(value: object) -> bool:
    """A 64-bit int or an index scalar: an extent, a loop variable, a mesh coordinate, arithmetic on these."""
    if isinstance(value, int):
        return not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
    if isinstance(value, Window):
        return True
    if not isinstance(value, Expr) or isinstance(value, Constant):
        return False
    if isinstance(value, Call) and isinstance(value.target, MeshCoordinate):
        return True
    return is_dim_expr(value) or (isinstance(value, Var) and value.type == INDEX_TYPE)


def is_runtime_index(value: object) -> bool:
    """A rank-0 integer tensor: a scalar that the program computes or is given, of any integer dtype."""
    if not isinstance(value, Expr) or is_index(value) or not isinstance(value.type, TensorType):
        return False
    return not value.type.shape and value.type.dtype.is_integer


def as_index(value: object) -> Index:
    """The scalar that an index value (see `is_index`) is in arithmetic."""
    if isinstance(value, Window):
        return value.start
    assert isinstance(value, (int, Expr))
    return value


def _atom(atom: Expr) -> str:
    """A scalar inside of an extent: by its name where it has one, a mesh coordinate by its axis."""
    if isinstance(atom, Call) and isinstance(atom.target, MeshCoordinate):
        return f"<coordinate along '{atom.target.axis.name}'>"
    return atom.name if isinstance(atom, (Var, DimVar)) else str(atom)


def describe(value: object) -> str:
    """What a value is, in the words of a message."""
    if isinstance(value, Window):
        return f"a tile window of {value.size} elements"
    if isinstance(value, Expr):
        if is_dim_expr(value):
            return f"the extent {format_dim(value, _atom)}"
        what = "a loop variable" if isinstance(value, Var) and value.type == INDEX_TYPE else "a run-time value"
        return repr(value.value) if isinstance(value, Constant) else f"{what} of type {value.type}"
    if isinstance(value, MeshAxis):
        return f"mesh axis '{value.name}'"
    if isinstance(value, Mesh):
        return "a mesh"
    if value is None or isinstance(value, (bool, int, float, str, DType, StorageKind, Enum)):
        return repr(value)
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if isinstance(value, type):
        return f"the class '{value.__name__}'"
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return "a lambda" if value.__name__ == "<lambda>" else f"the Python function '{value.__name__}'"
    if isinstance(value, Described):
        return value.described
    if isinstance(value, (Function, Module)):
        return f"the {'function' if isinstance(value, Function) else 'module'} '{value.name}'"
    return f"a value of type {type(value).__name__}"
