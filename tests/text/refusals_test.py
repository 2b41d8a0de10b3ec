"""What the surface language cannot write is refused, and named, never printed as something else."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry import as_script
from tilefoundry.diagnostics import ExtractError, TileFoundryError
from tilefoundry.ir import Call, Constant, DimVarRangePat, Expr, Function, Module, Op, Tuple, Var
from tilefoundry.ir.core import BindingMetadata, IRMetadata, ParamDef, TypeContext, replace_metadata
from tilefoundry.ir.hir import BinaryKind, InsertSlice, Reshape, Slice, Unary, UnaryKind
from tilefoundry.ir.samples import attention, binary, number
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import TensorType, TupleType, Type, make_tensor_type

T = make_tensor_type((8, 8), "f32")
X = Var("x", T)


@dataclass(frozen=True, slots=True)
class Unregistered(Op):
    """An op that no program can name."""

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> Type:  # type: ignore[override]
        """Its operand's type."""
        assert isinstance(x, Expr)
        return x.type


@dataclass(frozen=True, slots=True)
class Note(IRMetadata):
    """A record of somebody else's."""


def exp(x: Expr) -> Call:
    return Call(Unary(UnaryKind.EXP), (x,))


def returning(body: Expr, *params: Var) -> Function:
    return Function("f", params or (X,), body, body.type)


def called() -> Function:
    y = Var("y", T)
    return returning(Call(Function("g", (y,), exp(y), T), (X,)))


U = Var("u", make_tensor_type((4, 8), "f32"))
OTHER_PLACE = make_tensor_type((64,), "f32", "smem")
WEIGHTED = returning(exp(X), X, Var("w", T, is_const=True))
WINDOW = Slice((4, 8), boundary=("zero", "error"))
REFUSED = {
    "a call of a function": (called(), "a call of function 'g'"),
    "a loop whose carries have no names": (attention(), "no name holds"),
    "an op without a name": (returning(Call(Unregistered(), (X,))), "Unregistered"),
    "a record": (returning(replace_metadata(exp(X), BindingMetadata("y"), Note())), "Note"),
    "a name": (returning(replace_metadata(exp(X), BindingMetadata("not a name"))), "'not a name'"),
    "a keyword": (returning(replace_metadata(exp(X), BindingMetadata("class"))), "'class'"),
    "the name of a parameter": (returning(exp(Var("def", T)), Var("def", T)), "'def'"),
    "the name of a function": (dataclasses.replace(returning(exp(X)), name="two words"), "'two words'"),
    "a constant of a type of its own": (returning(binary(BinaryKind.MUL, X, number(0.5))), "constant 0.5"),
    "a constant that is returned": (returning(Constant(1.0, TensorType.scalar("f32"))), "cannot return"),
    "a type that no rule gives": (returning(Call(Reshape((64,)), (X,), OTHER_PLACE)), "type"),
    "a window of no loop": (returning(Call(WINDOW, (X, Tuple((0, 0))))), "plain int|no spelling"),
    "a write of no loop": (
        returning(Call(InsertSlice((4, 8), ("clip", "error")), (X, exp(U), Tuple((0, 0)))), X, U),
        "no insert_slice",
    ),
    "a variable that nothing binds": (returning(exp(Var("z", T))), "'z'"),
    "a parameter of tuples": (returning(exp(X), X, Var("t", TupleType((T,)))), "no spelling in an annotation"),
    "strides left open": (
        returning(exp(Var("x", make_tensor_type((8, 8), "f32", layout=Layout((8, 8)))))),
        "without strides|'x'",
    ),
    "a label of no variant": (
        dataclasses.replace(returning(exp(X)), metadata=(BindingMetadata("g"),)),
        "BindingMetadata",
    ),
    "a range of no variant": (
        dataclasses.replace(returning(exp(X)), specializations=(DimVarRangePat("N", 1, 5),)),
        "'f' is a variant, which does not stand alone: it is printed with its prototype",
    ),
    "a converter called as a function": (
        Module("m", (dataclasses.replace(WEIGHTED, converters=(("w", returning(exp(X))),)),)),
        "f cannot stand in one class body",
    ),
    "a name that a Module has": (Module("m", (Function("load", (X,), exp(X), T),), "load"), "'load', which a Module's"),
    "a private name in a class": (Module("m", (Function("__f", (X,), exp(X), T),), "__f"), "'__f'"),
    "a method without source": (Module("m", (returning(exp(X)),), methods={"forward": len}), "method 'forward'"),
}  # fmt: skip


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_cannot_be_written_is_named(what: str) -> None:
    program, words = REFUSED[what]
    with pytest.raises(ExtractError, match=words) as caught:
        as_script(program)
    assert isinstance(caught.value, NotImplementedError) and caught.value.remedy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((print,), "expected a Function or a Module"),
        (("source",), "expected a Function or a Module"),
        ((returning(exp(X)), "module"), "expected a Module"),
        ((returning(exp(X)), Module("m", ())), "does not hold function 'f'"),
        ((returning(exp(X)), None, {"width": 80}), "expected ScriptOptions"),
    ],
)
def test_arguments_of_other_kinds(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(TileFoundryError, match=words):
        as_script(*arguments)  # type: ignore[arg-type]
