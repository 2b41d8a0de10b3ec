"""Ops: value classes whose fields are attributes, and the registry from surface names to them.

An op declares its operands as class attributes and its attributes as dataclass fields::

    @register_op(category="shape")
    @dataclass(frozen=True, slots=True)
    class Transpose(Op):
        x: ClassVar[ParamDef] = ParamDef()
        perm: tuple[int, ...]

        def type_rule(self, ctx: TypeContext, x: Expr) -> Type: ...

or all of them as class attributes, of which `register_op` makes such a class::

    @register_op(category="shape")
    class Transpose(Op):
        x = ParamDef()
        perm = ParamDef(kind="attribute", annotation=tuple)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import ClassVar, NoReturn, TypeVar

from tilefoundry.diagnostics import DimSubstitutionError, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import CallTarget, Expr
from tilefoundry.ir.core.metadata import Metadata, span_of
from tilefoundry.ir.core.pattern import Pattern
from tilefoundry.ir.core.type import Type


class Missing(Enum):
    """The default of a parameter that has none."""

    MISSING = "MISSING"


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True)
class ParamDef:
    """One parameter of an op: an operand ("input") or a compile-time value ("attribute").

    Attributes:
        annotation: the annotation of an attribute.
        pattern: what an input must look like.
        optional: the input may be left out.
        default: the value of a parameter that is not given; `MISSING` when it is required.
        variadic: the input takes all remaining operands.
        name: filled in from the class attribute.
    """

    kind: str = "input"
    annotation: object = None
    pattern: Pattern | None = None
    optional: bool = False
    default: object = MISSING
    variadic: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("input", "attribute"):
            raise WrongValueError(
                f'ParamDef: kind must be "input" or "attribute", got {self.kind!r}',
                remedy='use "input" for an operand, "attribute" for a compile-time value',
            )

    @property
    def required(self) -> bool:
        """Whether a call must give this parameter."""
        return self.default is MISSING and not self.optional and not self.variadic


@dataclass(frozen=True, slots=True)
class TypeContext:
    """What a type rule knows about the call that it types, and its way to refuse it."""

    op: Op
    metadata: Metadata

    def error(self, message: str, remedy: str) -> NoReturn:
        """Raises a VerifyError that names the op and the place of the call.

        Args:
            message: what was expected and what was found.
            remedy: what to change, as an imperative sentence.
        """
        raise VerifyError(f"{self.op.op_name}: {message}", span=span_of(self.metadata), remedy=remedy)


@dataclass(frozen=True, slots=True)
class Op(CallTarget):
    """Base of all ops. Two ops are equal when class and attributes are."""

    op_name: ClassVar[str] = "op"
    dialect: ClassVar[str] = ""
    category: ClassVar[str] = ""

    def type_rule(self, ctx: TypeContext, *args: Expr) -> Type:
        """The type of this op's result on these operands; refuses them by `ctx.error`."""
        raise WrongTypeError(f"{type(self).__name__} has no type rule", remedy="define type_rule(self, ctx, ...)")

    def infer_type(self, args: tuple[Expr | int, ...], metadata: Metadata = ()) -> Type:
        """The type of a call of this op.

        Raises:
            VerifyError: the operands have the wrong number or do not fit the type rule.
        """
        ctx = TypeContext(self, metadata)
        inputs = inputs_of(type(self))
        least = sum(p.required for p in inputs)
        most = None if any(p.variadic for p in inputs) else len(inputs)
        if len(args) < least or (most is not None and len(args) > most):
            names = ", ".join(f"*{p.name}" if p.variadic else p.name for p in inputs)
            count = str(least) if most == least else f"at least {least}" if len(args) < least else f"at most {most}"
            ctx.error(f"expected {count} operand(s) ({names}), got {len(args)}", "give each operand once")
        try:
            return self.type_rule(ctx, *args)  # type: ignore[arg-type]  # rules that accept plain ints say so
        except (WrongTypeError, WrongValueError, DimSubstitutionError) as error:
            # from a helper that knows no context: an axis, a layout, an extent
            raise VerifyError(
                f"{self.op_name}: {error.message}", span=span_of(metadata), remedy=error.remedy
            ) from error

    def attributes(self) -> tuple[tuple[str, object], ...]:
        """Names and values of the attributes, in declaration order."""
        return tuple((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))


# What a class declares does not change, and every call of an op asks.
_inputs: dict[type[Op], tuple[ParamDef, ...]] = {}


def inputs_of(cls: type[Op]) -> tuple[ParamDef, ...]:
    """The operands that an op class declares, in order, with their names."""
    if cls not in _inputs:
        found = {n: v for base in reversed(cls.__mro__) for n, v in vars(base).items() if isinstance(v, ParamDef)}
        _inputs[cls] = tuple(dataclasses.replace(v, name=n) for n, v in found.items() if v.kind == "input")
    return _inputs[cls]


def attributes_of(cls: type[Op]) -> tuple[ParamDef, ...]:
    """The attributes that an op class declares, in order, with their names."""
    result = []
    for f in dataclasses.fields(cls):
        default: object = MISSING if f.default is dataclasses.MISSING else f.default
        if f.default_factory is not dataclasses.MISSING:
            default = f.default_factory()
        result.append(ParamDef("attribute", annotation=f.type, default=default, name=f.name))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class OpSchema:
    """One way to call a surface name.

    Attributes:
        params: inputs, then attributes, in the order of positional arguments. A variadic input takes the positional
            arguments from its place on, so that attributes beside it are given by keyword.
        build: makes the op from attributes given by keyword.
        is_alias: the name presets attributes of another op.
    """

    dialect: str
    category: str
    name: str
    params: tuple[ParamDef, ...]
    build: Callable[..., Op]
    is_alias: bool = False

    @property
    def inputs(self) -> tuple[ParamDef, ...]:
        """The operands."""
        return tuple(p for p in self.params if p.kind == "input")

    @property
    def attributes(self) -> tuple[ParamDef, ...]:
        """The compile-time parameters."""
        return tuple(p for p in self.params if p.kind == "attribute")

    @property
    def signature(self) -> str:
        """How the op is called, as a message says it."""
        return f"{self.name}({', '.join(_written(p) for p in self.params)})"

    def place(self, positional: int) -> tuple[ParamDef, ...] | None:
        """The parameter of each of so many positional arguments, or None when they are too many."""
        placed: list[ParamDef] = []
        for param in self.params:
            if param.variadic:
                return (*placed, *(param for _ in range(len(placed), positional)))
            if len(placed) == positional:
                break
            placed.append(param)
        return tuple(placed) if len(placed) == positional else None

    def takes(self, positional: int, keywords: Collection[str]) -> bool:
        """Whether so many positional arguments and these keywords give each required parameter, and each one once."""
        placed = self.place(positional)
        if placed is None:
            return False
        taken = {p.name for p in placed}
        known = {p.name for p in self.params}
        return (
            taken.isdisjoint(keywords)
            and known.issuperset(keywords)
            and all(not p.required or p.name in taken or p.name in keywords for p in self.params)
        )


def _written(param: ParamDef) -> str:
    return f"*{param.name}" if param.variadic else param.name if param.required else f"{param.name}=..."


_schemas: dict[tuple[str, str], list[OpSchema]] = {}
OpClass = TypeVar("OpClass", bound=type[Op])
Builder = TypeVar("Builder", bound=Callable[..., Op])


def register_op(dialect: str = "tf", category: str = "", name: str | None = None) -> Callable[[OpClass], OpClass]:
    """Class decorator: makes an op callable by a surface name (by default its class name in lowercase).

    Of a class that is no dataclass it makes a frozen one: attributes are its ``ParamDef(kind="attribute")``.

    Raises:
        WrongTypeError: the class does not derive from Op, or is a dataclass and declares an attribute as a ParamDef.
        WrongValueError: the name has a schema with the same inputs already; an input that may be left out, or takes all
            that is left, stands before another one.
    """

    def register(cls: OpClass) -> OpClass:
        if not (isinstance(cls, type) and issubclass(cls, Op)):
            raise WrongTypeError(
                f"register_op: {cls!r} must be a class that derives from Op", remedy="write class Transpose(Op): ..."
            )
        _declare_attributes(cls)
        surface = name if name is not None else cls.__name__.lower()
        cls.op_name, cls.dialect, cls.category = surface, dialect, category
        if not dataclasses.fields(cls):
            _make_singleton(cls)
        _add(OpSchema(dialect, category, surface, inputs_of(cls) + attributes_of(cls), cls))
        return cls

    return register


def _declare_attributes(cls: type[Op]) -> None:
    """Makes the dataclass fields of the attributes that a class declares by `ParamDef`."""
    declared = {n: v for n, v in vars(cls).items() if isinstance(v, ParamDef) and v.kind == "attribute"}
    if "__dataclass_params__" not in vars(cls):
        cls.__annotations__ = {name: param.annotation or object for name, param in declared.items()}
        for name, param in declared.items():
            if param.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, param.default)
        dataclass(frozen=True)(cls)
    elif declared:
        raise WrongTypeError(
            f"register_op: {cls.__name__} is a dataclass, and declares {', '.join(declared)} by ParamDef",
            remedy="write attributes as fields, `axis: int = 0`, or leave @dataclass out",
        )


def _make_singleton(cls: type[Op]) -> None:
    """Lets a class without attributes have one instance, which copies and pickles give, too."""
    instance = object.__new__(cls)

    def new(kind: type[Op], *_: object, **__: object) -> Op:  # what a derived class takes goes to its __init__
        return instance if kind is cls else object.__new__(kind)

    cls.__new__ = new  # type: ignore[assignment]  # a static method, as every __new__


def register_alias(
    dialect: str, category: str, name: str, params: tuple[ParamDef, ...]
) -> Callable[[Builder], Builder]:
    """Decorator of what builds an op: a surface name for an op with attributes preset (``add`` is ``Binary(ADD)``).

    The builder takes the attributes among `params` by keyword::

        @register_alias("tf", "elementwise", "add", inputs_of(Binary))
        def _add() -> Op:
            return Binary(BinaryKind.ADD)

    Args:
        params: the parameters of the surface name, inputs first, each with its name.

    Raises:
        WrongValueError: a parameter has no name; otherwise as `register_op`.
    """
    for param in params:
        if not param.name:
            raise WrongValueError(
                f"op '{dialect}.{name}': a parameter has no name", remedy='write ParamDef(name="x"), or inputs_of(Op)'
            )

    def register(build: Builder) -> Builder:
        _add(OpSchema(dialect, category, name, params, build, is_alias=True))
        return build

    return register


def _add(schema: OpSchema) -> None:
    for before, after in pairwise(schema.inputs):
        if before.variadic or (not before.required and after.required):
            raise WrongValueError(
                f"op '{schema.dialect}.{schema.name}': input '{after.name}' stands behind '{before.name}', which "
                f"{'takes all operands that are left' if before.variadic else 'may be left out'}",
                remedy="declare required inputs first, a variadic one last",
            )
    known = _schemas.setdefault((schema.dialect, schema.name), [])
    if any(s.is_alias == schema.is_alias and s.inputs == schema.inputs for s in known):
        raise WrongValueError(
            f"op '{schema.dialect}.{schema.name}' is registered already with these inputs",
            remedy="register it under another name",
        )
    known.append(schema)
    known.sort(key=lambda s: not s.is_alias)  # aliases win; the sort is stable


def schemas_named(dialect: str, name: str) -> tuple[OpSchema, ...]:
    """The schemas of a surface name, in lookup order; empty when it names no op."""
    return tuple(_schemas.get((dialect, name), ()))


def op_names(dialect: str) -> tuple[str, ...]:
    """All surface names of a dialect, sorted."""
    return tuple(sorted(name for d, name in _schemas if d == dialect))
