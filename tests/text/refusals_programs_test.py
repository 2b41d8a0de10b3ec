"""What no script says about loops, scopes, parts and methods is refused by name: programs that only IR can hold."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import ClassVar, cast

import pytest

from tilefoundry import as_script
from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir import Call, DimVarRangePat, Expr, Function, GridRegionExpr, Module, Op, Tuple, Var
from tilefoundry.ir.core import (
    BindingMetadata,
    ExecutionDomainMetadata,
    ParamDef,
    ScheduleConstraintMetadata,
    TypeContext,
    register_op,
    replace_metadata,
)
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.metadata import IRMetadata
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_add
from tilefoundry.ir.hir import (
    Binary,
    BinaryKind,
    InsertSlice,
    MeshCoordinate,
    Reduce,
    Slice,
    TupleGetItem,
    Unary,
    UnaryKind,
    Zeros,
)
from tilefoundry.ir.shard import Layout, Mesh, MeshAxis, Topology
from tilefoundry.ir.types import TensorType, Type, make_tensor_type
from tilefoundry.target import CudaTarget

T = make_tensor_type((8, 8), "f32")
X, Y = Var("x", T), Var("y", T)
N = DimVar("N", 1, 9)
THREADS = Mesh((Topology("thread", 8),), Layout((8,)), ("t",))
OTHERS = Mesh((Topology("thread", 8),), Layout((2, 4)), ("a", "b"))


def exp(x: Expr, *notes: IRMetadata) -> Call:
    return Call(Unary(UnaryKind.EXP), (x,), metadata=notes)


def returning(body: Expr, *params: Var, name: str = "f") -> Function:
    return Function(name, params or (X,), body, body.type)


def counted(
    names: tuple[str, ...] = ("x",),
    *,
    step: int | Expr = 1,
    notes: tuple[IRMetadata, ...] = (BindingMetadata("x"),),
    of: Callable[[Var], Expr] = exp,
) -> GridRegionExpr:
    """A loop that carries values of these names, each of which begins as `x`."""
    carries = tuple(Var(name, T) for name in names)
    yields = tuple(replace_metadata(cast("Call", of(c)), BindingMetadata(c.name)) for c in carries)
    own = notes if len(names) == 1 else ()
    inits = (X,) * len(names)
    return GridRegionExpr(Var("i", INDEX_TYPE), carries, inits, None, yields, 4, step, metadata=own)


def taken(loop: GridRegionExpr, index: int, name: str) -> Call:
    return Call(TupleGetItem(index), (loop,), metadata=(BindingMetadata(name),))


def twice_taken() -> Expr:
    loop = counted(("x", "y"))
    return Tuple((taken(loop, 0, "x"), taken(loop, 0, "x")))


@dataclass(frozen=True, slots=True)
class Note(IRMetadata):
    """A record of somebody else's."""


@dataclass(frozen=True, slots=True)
class Written(Op):
    """An op whose attribute no script can write."""

    op_name: ClassVar[str] = "written"
    dialect: ClassVar[str] = "tf"
    x: ClassVar[ParamDef] = ParamDef()
    by: object = None

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> Type:  # type: ignore[override]
        """Its operand's type."""
        assert isinstance(x, Expr)
        return x.type


WRITTEN = register_op(name="written_by_nobody")(Written)


@register_op(name="written_by_nobody")
@dataclass(frozen=True, slots=True)
class Overloaded(Op):
    """An op that no call by this name means: the one above takes the same operand."""

    value: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, value: Expr | int) -> Type:  # type: ignore[override]
        """Its operand's type."""
        assert isinstance(value, Expr)
        return value.type


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a Module holds as a function, and no front end makes."""

    name: str = "k"


def variant(name: str, label: str | None, function: Function) -> Function:
    notes = () if label is None else (BindingMetadata(label),)
    return dataclasses.replace(function, name=name, specializations=(DimVarRangePat("N", 1, 9),), metadata=notes)


V = make_tensor_type((N,), "f32")
VX = Var("x", V)
VECTOR = Function("g", (VX,), exp(VX), V)


def prototype(*variants: Function) -> Function:
    return Function("g", (VX,), None, V, variants=variants)


def own_parts() -> Function:
    """A variant that has variants itself."""
    inner = variant("g", "deep", VECTOR)
    return dataclasses.replace(variant("g", "label", VECTOR), variants=(inner,))


def with_weight(name: str) -> Function:
    w = Var("w", T, is_const=True)
    return Function(name, (X, w), Call(Binary(BinaryKind.MUL), (X, w)), T)


H200 = CudaTarget("nvidia.h200_sxm")
OTHER_TARGET = CudaTarget(dataclasses.replace(H200.device, facts=H200.device.facts[1:]), H200.architecture)
UNLABELLED = prototype(variant("g", None, VECTOR))
INTS, INSERT = Var("x", make_tensor_type((8, 8), "i64")), InsertSlice((1, 1))
SCALAR = Var("n", TensorType.umat_scalar("i64"))
I = Var("i", INDEX_TYPE)  # noqa: E741

REFUSED: dict[str, tuple[Function | Module, str]] = {
    "nested scopes of one level": (
        returning(exp(X, ExecutionDomainMetadata((THREADS, OTHERS)))),
        "nested mesh scopes share a topology level",
    ),
    "a constraint on a mesh that is not open": (
        returning(exp(X, BindingMetadata("y"), ScheduleConstraintMetadata(mesh=THREADS))),
        "names a mesh that is not open",
    ),
    "a loop without carries": (
        returning(GridRegionExpr(Var("i", INDEX_TYPE), (), (), exp(X), (), 4)),
        "the loop over 'i' needs carries with different names",
    ),
    "carries of one name": (returning(taken(counted(("y", "y")), 0, "y")), "needs carries with different names"),
    "a carry with the loop variable's name": (
        returning(counted(("i",), notes=(BindingMetadata("i"),))),
        "needs carries with different names",
    ),
    "a step that a run decides": (returning(counted(step=N), X, Var("v", V)), "has a step that is not known"),
    "a loop of another name than its carry": (
        returning(counted(notes=(BindingMetadata("y"),))),
        "the result of the loop over 'i' is not named 'x'",
    ),
    "a record on a loop": (
        returning(counted(notes=(BindingMetadata("x"), Note()))),
        "the loop over 'i' carries Note, which has no spelling",
    ),
    "a result of a loop that is taken twice": (returning(twice_taken()), "a result of a loop is taken twice"),
    "a loop that is returned as one tuple": (returning(counted(("x", "y"))), "used as one tuple"),
    "an int among tensors": (
        returning(Call(Binary(BinaryKind.ADD), (SCALAR, 3)), SCALAR),
        "the plain int 3 is an operand of an op",
    ),
    "an op that its name does not mean": (returning(Call(Overloaded(), (X,))), "is no Overloaded"),
    "an attribute of another type": (
        returning(Call(WRITTEN(by=object), (X,))),
        "a value of type type has no spelling in a script",
    ),
    "a call that is not well typed": (
        returning(Call(Binary(BinaryKind.ADD), (X, Var("y", make_tensor_type((4,), "bf16"))), T)),
        "a call is not well typed: add|a call is not well typed",
    ),
    "an extent of a value without name": (
        returning(Call(Reduce((0,), False), (Call(Zeros(make_tensor_type((dim_add(I, 1),), "f32")), ()),)), X),
        "an extent uses i, which has no name here",
    ),
    "an axis of a mesh that is not open": (
        returning(Call(Slice((1, 8), drop=(0,)), (X, Tuple((Call(MeshCoordinate(MeshAxis(THREADS, 0)), ()), 0))))),
        "axis 0 of a mesh of shape (8,) cannot be named here",
    ),
    "a definition of no kind": (Module("m", (Foreign(),)), "'k' of module 'm' is of no kind that a script has"),
    "an empty module": (Module("m", ()), "module 'm' is empty"),
    "a variant without a label": (Module("m", (UNLABELLED,)), "a variant of 'g' has no label"),
    "a variant of another name": (Module("m", (prototype(variant("h", "label", VECTOR)),)), "another name"),
    "a variant with variants": (Module("m", (prototype(own_parts()),)), "a part of 'g' has variants or converters"),
    "a parameter that carries another name": (
        returning(exp(X), Var("x", T, metadata=(BindingMetadata("z"),))),
        "the parameter 'x' carries another name",
    ),
    "a child of no module": (
        returning(Call(ChildEntry("proj", with_weight("run")), (X,))),
        "the function calls the child 'proj'",
    ),
    "an extent that is no DimVar": (
        Function("f", (Var("x", make_tensor_type((I,), "f32")),), X, T),
        "an extent in the signature of 'f' uses i",
    ),
    "a target of other facts": (
        Module("m", (returning(exp(X)),), target=OTHER_TARGET),
        "has no spelling in a script",
    ),
    "what is inserted is no tensor": (
        returning(Call(INSERT, (INTS, 3, Tuple((0, 0)))), INTS),
        "insert_slice of what is no tensor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_only_ir_can_hold_is_refused_by_name(what: str) -> None:
    program, words = REFUSED[what]
    with pytest.raises(ExtractError, match=words if "|" in words else re.escape(words)) as caught:
        as_script(program)
    assert caught.value.remedy


def without_source() -> Callable[..., object]:
    scope: dict[str, object] = {}
    exec("def forward(self): return self", scope)
    return cast("Callable[..., object]", scope["forward"])


def other_name(self: object) -> object:
    return self


def reads_nothing() -> Callable[..., object]:
    def forward(self: object) -> object:
        return defined_nowhere  # type: ignore[name-defined]

    return forward


def captures_nothing() -> Callable[..., object]:
    def forward(self: object) -> object:
        return later

    if reads_nothing is None:
        later: object = 1
    return forward


OPAQUE = object()


def reads_an_object() -> Callable[..., object]:
    def forward(self: object) -> object:
        return OPAQUE

    return forward


def reading(name: str, value: object) -> Callable[..., object]:
    """A method of this name that reads a global called `limit`, of a module that has it."""

    def one(self: object) -> object:
        return limit  # type: ignore[name-defined]

    def two(self: object) -> object:
        return limit  # type: ignore[name-defined]

    method = one if name == "one" else two
    return FunctionType(method.__code__, {"limit": value, "__builtins__": __builtins__}, name)


METHODS: dict[str, tuple[dict[str, Callable[..., object]], str]] = {
    "without source": ({"forward": without_source()}, "method 'forward' of module 'm' has no source"),
    "defined by another name": ({"forward": other_name}, "is not defined as 'def forward' without decorators"),
    "reads what is defined nowhere": ({"forward": reads_nothing()}, "uses 'defined_nowhere', which is defined nowhere"),
    "captures what has no value": ({"forward": captures_nothing()}, "captures 'later', which has no value"),
    "reads an object": ({"forward": reads_an_object()}, "which can neither be imported nor written"),
    "two globals of one name": (
        {"one": reading("one", 1), "two": reading("two", 2)},
        "two methods read different globals called 'limit'",
    ),
}


@pytest.mark.parametrize("what", sorted(METHODS))
def test_methods_that_no_script_holds_are_refused_by_name(what: str) -> None:
    methods, words = METHODS[what]
    with pytest.raises(ExtractError, match=re.escape(words)) as caught:
        as_script(Module("m", (returning(exp(X)),), methods=methods))
    assert caught.value.remedy


def calling(callee: Function, *, named: str | None = None) -> Function:
    """A function that calls a prototype on a vector, whose value has the name `named`."""
    v = Var("v", V)
    value: Expr = v if named is None else exp(v, BindingMetadata(named))
    body = Call(callee, (value,))
    return returning(body if named is None else Call(Binary(BinaryKind.ADD), (body, value)), v)


def test_called_prototypes_need_their_names() -> None:
    one, other = (prototype(variant("g", label, VECTOR)) for label in ("one", "other"))
    cases: list[tuple[Function | Module, str]] = [
        (calling(one, named="g"), "the prototype 'g' is called where a value has its name"),
        (Module("m", (other, calling(one))), "a prototype 'g' where another one, or a member, has this name"),
        (Module("m", (returning(exp(X), name="g"), calling(one))), "another one, or a member, has this name"),
        (Module("m", (calling(one), dataclasses.replace(calling(other), name="h"))), "another one, or a member"),
    ]
    for program, words in cases:
        with pytest.raises(ExtractError, match=words) as caught:
            as_script(program)
        assert caught.value.remedy
