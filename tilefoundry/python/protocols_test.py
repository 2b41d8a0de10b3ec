"""Python's protocols of copying, pickling and listing, on what programs are made of."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import copy
import pickle

import pytest

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, Split, T, Tensor, Topology, tf
from tilefoundry.ir import first_difference
from tilefoundry.ir.core import Constant
from tilefoundry.ir.hir import Binary, BinaryKind, Where
from tilefoundry.ir.shard import ComposedLayout, Layout, canonical_shard_layout, make_mesh
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType, make_tensor_type
from tilefoundry.python import func, module, prim_func
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("N", 1, 9)


@module(entry="scale")
class Child:
    @func
    def scale(x: Tensor[(N,), "f32"], w: ConstTensor[(1,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * w


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 4),))
class Program:
    child = Child

    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        y = chosen(x)
        for _ in range(3):
            y = y + child(y) * 0.5
        return y

    @func
    def chosen(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @chosen.specialize(DimVarRangePat("N", 1, 5))
    def low(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x

    @chosen.specialize(DimVarRangePat("N", 5, 9))
    def high(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return tf.exp(x)

    @func
    def placed(x: Tensor[(8, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
        with Mesh(("thread",), (4,), ("t",)) as m:
            s = tf.reshard(x, (8, 8), "smem")
            for i in range(2):
                x = tf.insert_slice(x, tf.reshard(s[i * 4 : i * 4 + 4], (4 @ m.t, 8), "rmem"), (i * 4, 0))
            return x


@prim_func(target=CpuTarget())
def kernel(a: Tensor[(4,), "f32"], o: Tensor[(4,), "f32"]):
    b = T.tensor_view(a, shape=(4,))
    T.copy(b, o)


MANY = (0,) * 3000


@func
def deep(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    for _ in MANY:
        x = tf.exp(x)
    return x


def pickled(value):
    return pickle.loads(pickle.dumps(value))


MESH = make_mesh((4,), names=("t",), topology="thread")
SINGLE = (N, DType.f32, DType.i64, DType.bool, StorageKind.SMEM, Where())
VALUES = (
    N * 2 + 1,
    Constant(1.0, TensorType.scalar(DType.f32)),
    Binary(BinaryKind.ADD),
    make_tensor_type((N, 4), "bf16"),
    TupleType((make_tensor_type((1,)),)),
    Layout((2, 3), (1, 2)),
    ComposedLayout(None, 1, Layout((2,), (1,))),
    canonical_shard_layout((8, 4), MESH, (Split(0),)),
    MESH,
    Topology("cta", N),
    DimVarRangePat("N", 1, 2),
    CudaTarget("nvidia.h200_sxm"),
)
FUNCTIONS = [*Program.functions, deep, kernel]


@pytest.mark.parametrize("value", SINGLE, ids=str)
def test_singletons_stay_singletons(value):
    assert copy.copy(value) is copy.deepcopy(value) is pickled(value) is value


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_values_are_equal_to_their_copies(value):
    assert copy.copy(value) == copy.deepcopy(value) == pickled(value) == value
    assert hash(pickled(value)) == hash(value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_functions_are_their_own_copies_and_their_pickles_mean_the_same(function):
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert first_difference(pickled(function), function) is None


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if getattr(f, "variants", True) == ()], ids=lambda f: f.name)
def test_expressions_are_their_own_copies(function):
    for value in (function.params[0], function.body):
        assert copy.copy(value) is copy.deepcopy(value) is value
    parameter, body = pickled((function.params[0], function.body))
    assert parameter != function.params[0]  # a variable equals itself only
    assert str(body.type) == str(function.body.type)


def test_modules():
    assert copy.copy(Program) is Program
    for made in (copy.deepcopy(Program), pickled(Program)):
        assert made is not Program and made.modules[0].owner is made
        assert first_difference(made, Program) is None
        assert canonical_module_text(made) == canonical_module_text(Program)
        # what a function calls is still a member
        assert made.lookup("f").body is not None and made.entry_function() is made.lookup("f")
    (child,) = Program.modules
    for made in (copy.deepcopy(child), pickled(child)):
        assert made.resolve_target() == Program.target and made.resolve_topology("thread").size == 4
    both = copy.deepcopy([Program, Program])
    assert both[0] is both[1]


def test_a_module_with_methods_is_copied_and_says_why_it_is_not_pickled():
    @module
    class WithMethod:
        child = Child

        def forward(self, x):
            return self.child(x)

    made = copy.deepcopy(WithMethod)
    assert made.forward.__func__ is WithMethod.forward.__func__ or made.methods == WithMethod.methods
    for held in (WithMethod, [WithMethod]):
        with pytest.raises(WrongTypeError, match=r"'WithMethod' has Python methods \(forward\)(.|\n)*as_script"):
            pickle.dumps(held)


def test_members_are_listed():
    assert {"f", "chosen", "placed", "child", "lookup", "weights", "__call__"} <= set(dir(Program))
    assert dir(Program) == sorted(set(dir(Program)))
    for name in Program.member_names():
        assert getattr(Program, name) is not None


def test_a_call_outside_of_a_program_is_refused_where_it_stands() -> None:
    @func
    def f(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return x

    with pytest.raises(WrongTypeError, match=r"'f' is a function of the language, and runs when") as found:
        f(3)
    assert found.value.span is not None and found.value.span.file == __file__ and "    f(3)" in str(found.value)
