"""What the evaluator refuses of programs that the front end never makes, and of values that only a run knows."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Mesh, Tensor, Topology, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.ir import Call, Function, GridRegionExpr, Op, Tuple, Var
from tilefoundry.ir.core import ParamDef
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import Binary, BinaryKind, Cast, MeshCoordinate, TupleGetItem, Unary, UnaryKind, Zeros
from tilefoundry.ir.shard import Layout, MeshAxis
from tilefoundry.ir.shard import Mesh as MeshRecord
from tilefoundry.ir.types import DType, TupleType, make_tensor_type
from tilefoundry.python import func

N = DimVar("N", 1, 9)
T = make_tensor_type((4,), "f32")
X = Var("x", T)
DATA = torch.arange(4, dtype=torch.float32)


def exp(x):
    return Call(Unary(UnaryKind.EXP), (x,))


@dataclass(frozen=True, slots=True)
class Unknown(Op):
    """An op that no evaluator knows."""

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx, x):
        return x.type


def coordinate(mesh, axis=0):
    return Call(Cast(DType.f32), (Call(MeshCoordinate(MeshAxis(mesh, axis)), ()),))


def over_units(value):
    return Function("f", (X,), Call(Binary(BinaryKind.ADD), (X, value)), T)


STRADDLING = MeshRecord((Topology("cta", 2), Topology("thread", 4)), Layout((8,)))
THREADS = MeshRecord((Topology("thread", 4),), Layout((4,)), ("t",))


def tuple_carried():
    """A loop that runs as often as the unit's coordinate says, and carries a tuple."""
    pair = Var("pair", TupleType((T, T)))
    first = Call(TupleGetItem(0), (pair,))
    swapped = Tuple((exp(first), first))
    loop = GridRegionExpr(
        Var("i", INDEX_TYPE),
        (pair,),
        (Tuple((X, X)),),
        None,
        (swapped,),
        Call(MeshCoordinate(MeshAxis(THREADS, 0)), ()),
    )
    return Function("f", (X,), Call(TupleGetItem(0), (loop,)), T)


PAIR = Var("pair", TupleType((T, T)))
PROGRAMS = {
    "a variable that is no parameter": (Function("f", (X,), exp(Var("y", T)), T), (DATA,), "has no value"),
    "a loop that carries nothing and never runs": (
        Function("f", (X,), GridRegionExpr(Var("i", INDEX_TYPE), (), (), exp(X), (), 4, start=4), T),
        (DATA,),
        "ran no iteration",
    ),
    "an op without a rule": (Function("f", (X,), Call(Unknown(), (X,)), T), (DATA,), "no rule for op 'op'"),
    "a parameter of two tensors": (
        Function("f", (PAIR,), Call(TupleGetItem(0), (PAIR,)), T),
        ((DATA, DATA),),
        r"input 'pair' is declared as \(.*\), expected a tensor type",
    ),
    "an extent of no input": (
        Function("f", (X,), Call(Zeros(make_tensor_type((N,), "f32")), ()), make_tensor_type((N,), "f32")),
        (DATA,),
        "extent 'N' has no value",
    ),
    "an axis across two levels": (over_units(coordinate(STRADDLING)), (DATA,), "straddles the levels of the mesh"),
    "a tuple in a loop of the unit's own length": (tuple_carried(), (DATA,), "'pair' is a tuple, carried by a loop"),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_programs_that_have_no_value_are_refused_by_name(what):
    function, inputs, words = PROGRAMS[what]
    with pytest.raises(EvalError, match=words) as caught:
        evaluate(function, *inputs)
    assert caught.value.remedy


@func
def divides(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    for i in range(2):
        x = x + x[4 // i - 4]
    return x


@func(topologies=(Topology("cta", 2), Topology("thread", 4)))
def spread_differently(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    with Mesh(("cta",), (2,), ("c",)) as cta, Mesh(("thread",), (4,), ("t",)) as m:
        out = x
        for i in range(m.t) @ cta.c:
            out = tf.insert_slice(out, tf.exp(x[i : i + 1]), (i,))
        return out


VALUES = {
    "a division by zero in an index": (divides, (DATA,), "divi"),
    "a spread loop whose bounds differ": (spread_differently, (DATA,), "bounds of a loop that is spread over units"),
}


@pytest.mark.parametrize("what", VALUES)
def test_values_that_only_a_run_knows_are_refused_where_they_are_written(what):
    function, inputs, words = VALUES[what]
    with pytest.raises(EvalError, match=words) as caught:
        evaluate(function, *inputs)
    assert caught.value.remedy
    assert caught.value.span is not None and caught.value.span.file == __file__


def test_a_rule_that_needs_one_number_of_all_units_is_refused(monkeypatch):
    monkeypatch.setitem(EVALUATORS, Unknown, lambda ctx, op, call, values: values[0] * int(values[0].sum()))
    function = over_units(Call(Unknown(), (Call(Binary(BinaryKind.MUL), (X, coordinate(THREADS))),)))
    with pytest.raises(EvalError, match="op: operands that differ from unit to unit cannot be evaluated") as caught:
        evaluate(function, DATA)
    assert caught.value.remedy
