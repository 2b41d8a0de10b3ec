"""Expressions: a program is a DAG of these; a shared sub-expression is one object.

Equality is structural, except that a `Var` is equal only to itself. Metadata takes no part in equality or hash. A
program shares sub-expressions freely, so both must stay linear in the number of distinct nodes: the hash is computed
once, when a node is built, and equality remembers the pairs that it has compared.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self, TypeVar

from tilefoundry.diagnostics import TileFoundryError, WrongTypeError
from tilefoundry.ir.core.metadata import IRMetadata, Metadata, check_metadata, span_of
from tilefoundry.ir.core.type import IntLiteralType, TupleType, Type


class Unchanging:
    """Base of values that never change: a copy of one, shallow or deep, is the value itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self


class CallTarget(Unchanging):
    """Base of what can be called: ops and functions."""

    __slots__ = ()

    def label(self) -> str:
        """What the repr of a call shows."""
        return repr(self)

    def infer_type(self, args: tuple[Expr | int, ...], metadata: Metadata) -> Type:
        """The type of the call. Raises VerifyError."""
        raise NotImplementedError

    def arithmetic(self, symbol: str, lhs: object, rhs: object) -> object:
        """The value of ``lhs <symbol> rhs`` where one is a call of this target, or NotImplemented."""
        return NotImplemented


class Expr(Unchanging):
    """Base of all expressions, which are frozen dataclasses with ``eq=False`` that call `init_expr` last when built.

    Attributes:
        type: the type of the value.
        metadata: records for people and passes; no part of the meaning.
    """

    __slots__ = ("_hash", "metadata", "type")

    type: Type
    metadata: Metadata
    _hash: int

    def _key(self) -> tuple[object, ...]:
        """What equality compares, sub-expressions included."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        # built anew: the cached hash holds in this process only
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
        return type(self), tuple(getattr(self, f.name) for f in fields)

    def __repr__(self) -> str:
        # in full, a DAG would be printed once for each path
        return _brief(self, 3)

    def _parts(self) -> tuple[object, ...]:
        """What the repr shows: labels, as str, and operands. Needed where a class has no repr of its own."""
        raise NotImplementedError

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return _same_nodes(self, other) if isinstance(other, Expr) else NotImplemented


_SHOWN = 8
"""How many parts of an expression its repr shows."""


def _brief(value: object, depth: int) -> str:
    """An expression down to `depth`, and `_SHOWN` parts wide; a Var by its name."""
    if isinstance(value, Var):
        return value.name
    if isinstance(value, Constant):
        return repr(value.value)
    if not isinstance(value, Expr):
        return str(value)
    if type(value).__repr__ is not Expr.__repr__:  # a leaf
        return repr(value)
    parts = value._parts()
    shown = [_brief(p, depth - 1) for p in parts[:_SHOWN]] if depth else ["..."]
    more = [f"... {len(parts) - _SHOWN} more"] if depth and len(parts) > _SHOWN else []
    return f"{type(value).__name__}({', '.join(shown + more)})"


def init_expr(expr: Expr, type_: Type, metadata: Metadata) -> None:
    """Fills the fields that all expressions share; the last thing that a constructor does."""
    check_metadata(metadata)
    object.__setattr__(expr, "type", type_)
    object.__setattr__(expr, "metadata", tuple(metadata))
    object.__setattr__(expr, "_hash", hash((type(expr).__name__, expr._key())))


def _same_nodes(a: object, b: object) -> bool:
    """Whether two expressions (or tuples of them) have the same structure; Vars are compared by identity."""
    seen: set[tuple[int, int]] = set()
    todo: list[tuple[object, object]] = [(a, b)]
    while todo:
        x, y = todo.pop()
        if x is y:
            continue
        if isinstance(x, Expr) and isinstance(y, Expr):
            if type(x) is not type(y) or hash(x) != hash(y):
                return False
            if (id(x), id(y)) in seen:
                continue
            seen.add((id(x), id(y)))
            todo.append((x._key(), y._key()))
        elif isinstance(x, tuple) and isinstance(y, tuple):
            if len(x) != len(y):
                return False
            todo.extend(zip(x, y, strict=True))
        elif type(x) is not type(y) or x != y:
            return False
    return True


_serial = itertools.count(1)


@dataclass(frozen=True, slots=True, eq=False)
class Var(Expr):
    """A name that is bound once: a parameter, an induction variable, a carried value. Equal only to itself.

    The hash is a serial number, so that normal forms order Vars of one name by age, the same in every process.

    Attributes:
        is_const: the parameter is a weight, whose value a resource supplies.
    """

    name: str
    type: Type
    is_const: bool = False
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise WrongTypeError(
                f"Var: name must be a non-empty string, got {self.name!r}", remedy='write Var("x", type)'
            )
        if not isinstance(self.type, Type):
            raise WrongTypeError(
                f"Var '{self.name}': type must be a Type, got {self.type!r}",
                remedy='give a type, such as make_tensor_type((4, 8), "f32")',
            )
        check_metadata(self.metadata)
        object.__setattr__(self, "_hash", next(_serial))

    def _key(self) -> tuple[object, ...]:
        return (id(self),)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expr):
    """A value known when the program is written: a Python bool, int or float."""

    value: bool | int | float
    type: Type
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.value, (bool, int, float)):
            raise WrongTypeError(
                f"Constant: value must be a bool, int or float, got {type(self.value).__name__}",
                remedy="give a number; larger values are parameters",
            )
        if not isinstance(self.type, Type):
            raise WrongTypeError(
                f"Constant {self.value}: type must be a Type, got {self.type!r}",
                remedy="give a type, such as TensorType.scalar(DType.f32)",
            )
        init_expr(self, self.type, self.metadata)

    def _key(self) -> tuple[object, ...]:
        # repr tells 0.0 from -0.0, and nan from itself
        return (type(self.value).__name__, repr(self.value), self.type)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuple(Expr):
    """Several values as one. Plain ints may stand among the elements as scalar indices."""

    elements: tuple[Expr | int, ...]
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_operands("Tuple", self.elements)
        object.__setattr__(self, "elements", tuple(self.elements))
        init_expr(self, TupleType(tuple(type_of(e) for e in self.elements)), self.metadata)

    def _key(self) -> tuple[object, ...]:
        return (self.elements,)

    def _parts(self) -> tuple[object, ...]:
        return self.elements


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """An op or function applied to arguments.

    Args:
        target: an Op (a value that holds the attributes) or a Function.
        args: the operands; plain ints may stand for scalar indices.
        type: the result type; inferred by the target when it is None.

    Raises:
        VerifyError: the target does not accept these operands; located by the span in `metadata`.
    """

    target: CallTarget
    args: tuple[Expr | int, ...]
    type: Type = field(default=None, repr=False)  # type: ignore[assignment]  # None only in the constructor
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.target, CallTarget):
            raise WrongTypeError(
                f"Call: target must be an Op or a Function, got {self.target!r}",
                remedy="give an op, such as Binary(BinaryKind.ADD), or a Function",
            )
        check_operands("Call", self.args)
        object.__setattr__(self, "args", tuple(self.args))
        type_: Type | None = self.type
        if type_ is None:
            try:
                type_ = self.target.infer_type(self.args, self.metadata)
            except TileFoundryError as error:
                located = error.at(span_of(self.metadata))
                if located is error:
                    raise
                raise located from error
        init_expr(self, type_, self.metadata)

    def _key(self) -> tuple[object, ...]:
        return (self.target, self.args, self.type)

    def _parts(self) -> tuple[object, ...]:
        return (self.target.label(), *self.args)

    def __add__(self, other: object) -> object:
        return self.target.arithmetic("+", self, other)

    def __radd__(self, other: object) -> object:
        return self.target.arithmetic("+", other, self)

    def __sub__(self, other: object) -> object:
        return self.target.arithmetic("-", self, other)

    def __rsub__(self, other: object) -> object:
        return self.target.arithmetic("-", other, self)

    def __mul__(self, other: object) -> object:
        return self.target.arithmetic("*", self, other)

    def __rmul__(self, other: object) -> object:
        return self.target.arithmetic("*", other, self)

    def __floordiv__(self, other: object) -> object:
        return self.target.arithmetic("//", self, other)

    def __rfloordiv__(self, other: object) -> object:
        return self.target.arithmetic("//", other, self)

    def __mod__(self, other: object) -> object:
        return self.target.arithmetic("%", self, other)

    def __rmod__(self, other: object) -> object:
        return self.target.arithmetic("%", other, self)


E = TypeVar("E", bound=Expr)


def replace_metadata(expr: E, *records: IRMetadata) -> E:
    """`expr` with these records in place of those of their classes. The metadata of a Var cannot change."""
    kinds = {type(record) for record in records}
    return _with_metadata(expr, lambda kept: (*(m for m in kept if type(m) not in kinds), *records))


def remove_metadata(expr: E, *kinds: type[IRMetadata]) -> E:
    """`expr` without its records of these classes. The metadata of a Var cannot change."""
    return _with_metadata(expr, lambda kept: tuple(m for m in kept if type(m) not in kinds))


def _with_metadata(expr: E, change: Callable[[Metadata], Metadata]) -> E:
    if not isinstance(expr, Expr):
        raise WrongTypeError(
            f"expected an expression, got {expr!r}", remedy="give a Call, a Tuple, a Constant or a loop"
        )
    if "metadata" not in {f.name for f in dataclasses.fields(expr)} or isinstance(expr, Var):  # type: ignore[arg-type]
        raise WrongTypeError(
            f"a {type(expr).__name__} is compared by identity; give its metadata when it is made",
            remedy="make another Var with the metadata",
        )
    return dataclasses.replace(expr, metadata=change(expr.metadata))  # type: ignore[type-var]


def check_operands(where: str, operands: object) -> None:
    """Refuses anything but a sequence of expressions and plain ints."""
    if not isinstance(operands, (tuple, list)):
        raise WrongTypeError(
            f"{where}: expected a tuple of operands, got {type(operands).__name__}",
            remedy="give the operands as a tuple",
        )
    for i, operand in enumerate(operands):
        if isinstance(operand, bool) or not isinstance(operand, (Expr, int)):
            raise WrongTypeError(
                f"{where}: operand {i} must be an Expr or a plain int, got {operand!r}",
                remedy="wrap a number: Constant(value, type)",
            )


def type_of(operand: Expr | int) -> Type:
    """The type of an operand; a plain int has `IntLiteralType`."""
    return operand.type if isinstance(operand, Expr) else IntLiteralType()
