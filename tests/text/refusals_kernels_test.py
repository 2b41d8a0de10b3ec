"""What no script says about kernels is refused by name: statements that only IR can hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tilefoundry import as_script
from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir import Call, Constant, DimVarRangePat, Expr, Module, Var
from tilefoundry.ir.core import BindingMetadata
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Binary as Arithmetic
from tilefoundry.ir.hir import BinaryKind
from tilefoundry.ir.shard import Layout, Mesh, Topology
from tilefoundry.ir.tir import (
    Abort,
    Copy,
    DispatchCall,
    Evaluate,
    For,
    If,
    LetStmt,
    MeshScope,
    PrimFunction,
    Sequential,
    ShapeOf,
    Stmt,
    SymbolRef,
    TensorView,
)
from tilefoundry.ir.types import TensorType, make_tensor_type

N = DimVar("N", 1, 9)
V = make_tensor_type((N,), "f32")
A, O = Var("a", V), Var("o", V)  # noqa: E741
I32 = TensorType.umat_scalar("i32")
FLAG = Var("flag", TensorType.umat_scalar("bool"))
THREADS = Mesh((Topology("thread", 8),), Layout((8,)), ("t",))


def kernel(*statements: Stmt, params: tuple[Var, ...] = (A, O), name: str = "k") -> PrimFunction:
    return PrimFunction(name, params, Sequential(statements))


def evaluate(*args: Expr) -> Evaluate:
    return Evaluate(Copy(), args)


def bound(name: str, value: Expr, body: Stmt) -> LetStmt:
    return LetStmt(Var(name, value.type, metadata=(BindingMetadata(name),)), value, body)


@dataclass(frozen=True, slots=True)
class Foreign(Stmt):
    """A statement of nobody's."""


def view(param: Var) -> Call:
    return Call(TensorView(shape=(N,)), (param,))


CALLEE = kernel(evaluate(A, O), name="one")
PATTERNS = (DimVarRangePat("N", 1, 5), DimVarRangePat("N", 5, 9))


def dispatch(*calls: Evaluate, fallback: Stmt | None = None) -> DispatchCall:
    subjects = (ShapeOf(A, 0),)
    return DispatchCall("f", subjects, PATTERNS, calls, fallback or Abort("none"))  # type: ignore[arg-type]


COUNT = Call(Arithmetic(BinaryKind.ADD), (Constant(1, I32), Constant(2, I32)), I32)

REFUSED: dict[str, tuple[PrimFunction | Module, str]] = {
    "a variable that nothing binds": (kernel(evaluate(Var("b", V), O)), "'b' is used where it is not bound"),
    "a statement of no kind": (kernel(Foreign()), "a statement Foreign has no spelling"),
    "a name that is bound again inside": (
        kernel(bound("v", view(A), For(Var("i", I32), 0, 4, 1, bound("v", view(O), evaluate(A, O))))),
        "'v' is bound again inside of a block",
    ),
    "a value of another name": (
        kernel(LetStmt(Var("v", V, metadata=(BindingMetadata("w"),)), view(A), evaluate(A, O))),
        "'v' is bound again inside of a block",
    ),
    "a number as condition": (kernel(If(COUNT, evaluate(A, O), None)), "is no condition in a script"),
    "a constant as condition": (
        kernel(If(Constant(True, TensorType.umat_scalar("bool")), evaluate(A, O), None)),
        "is no condition in a script",
    ),
    "a loop variable of a parameter's name": (
        kernel(For(Var("a", I32), 0, 4, 1, evaluate(A, O))),
        "the loop variable 'a' has the name of a value around it",
    ),
    "a mesh of a parameter's name": (
        kernel(MeshScope(THREADS, "a", evaluate(A, O))),
        "the mesh 'a' has the name of a value around it",
    ),
    "a dispatch with different arguments": (
        Module(
            "m",
            (CALLEE, kernel(dispatch(Evaluate(SymbolRef("one"), (A, O)), Evaluate(SymbolRef("one"), (O, A))))),
        ),
        "the dispatch of 'f' has no spelling",
    ),
    "a kernel of nowhere": (kernel(Evaluate(SymbolRef("two"), (A, O))), "names 'two', which it cannot call"),
    "a tuple among scalars": (
        kernel(For(Var("i", I32), ShapeOf(A, 0), SymbolRef("one"), 1, evaluate(A, O))),
        "has no spelling in a kernel",
    ),
    "an op that gives a tensor": (
        kernel(If(Call(Arithmetic(BinaryKind.LT), (A, O)), evaluate(A, O), None)),
        "a kernel holds Binary, which gives a new tensor",
    ),
    "a parameter that carries another name": (
        kernel(evaluate(A, O), params=(Var("x", V, metadata=(BindingMetadata("y"),)), A, O)),
        "the parameter 'x' carries another name",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_only_ir_can_hold_is_refused_by_name(what: str) -> None:
    program, words = REFUSED[what]
    with pytest.raises(ExtractError, match=re.escape(words)) as caught:
        as_script(program)
    assert caught.value.remedy
