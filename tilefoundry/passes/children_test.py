"""Weights of children: parameters of the entry that reaches them. Kernels that differ in tensors alone are one."""

from __future__ import annotations

from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Tensor, tf
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.passes import lower
from tilefoundry.passes.base import CHILD_FREE
from tilefoundry.passes.inline_children import InlineChildren
from tilefoundry.passes.kernels import launches_of
from tilefoundry.python import func, module
from tilefoundry.target import CpuTarget

N = DimVar("N", 1, 9)


@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(N, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
        return tf.matmul(x, w)


@module(entry="unused")
class Unused:
    @func
    def unused(x: Tensor[(N, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(N, 8), "f32"]:
        return x * w


@module(entry="block")
class Block:
    gate = Proj
    other = Unused
    proj = Proj

    @func
    def block(x: Tensor[(N, 8), "f32"], b: ConstTensor[(8,), "f32"]) -> Tensor[(N, 8), "f32"]:
        return gate(tf.sigmoid(proj(x))) + proj(x) * b


@module(entry="net")
class Net:
    first = Block
    second = Block

    @func
    def net(x: Tensor[(N, 8), "f32"], first_b: Tensor[(N, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
        return second(first(x + first_b))


def host_of(lowered: Module) -> PrimFunction:
    host = lowered.entry_function()
    assert isinstance(host, PrimFunction)
    return host


def test_the_weights_that_an_entry_reaches_are_its_last_parameters_in_the_order_of_the_modules() -> None:
    made = InlineChildren().run(Net, CpuTarget.default())
    entry = made.entry_function()
    assert isinstance(entry, Function)
    weights = ["first_b_1", "first_gate_w", "first_proj_w", "second_b", "second_gate_w", "second_proj_w"]
    assert [p.name for p in entry.params] == ["x", "first_b", *weights]  # a name that is taken gets a number
    assert [p.is_const for p in entry.params] == [False, False, *[True] * 6]
    assert [p.name for p in host_of(lower(Net, CpuTarget.default())).params] == ["x", "first_b", *weights, "out"]
    assert InlineChildren().run(Proj, CpuTarget.default()) is Proj
    assert InlineChildren().establishes == {CHILD_FREE}


def test_layers_share_their_kernels() -> None:
    lowered = lower(Net, CpuTarget.default())
    launches = [launch.kernel.name for launch in launches_of(lowered, host_of(lowered))]
    first, *layers = launches
    assert len(layers) % 2 == 0 and layers[: len(layers) // 2] == layers[len(layers) // 2 :]
    assert [fn.name for fn in lowered.functions] == ["net", first, *dict.fromkeys(layers)]


def test_variants_and_the_prototypes_that_a_body_calls_reach_children() -> None:
    @module(entry="outer")
    class Outer:
        proj = Proj

        @func
        def inner(x: Tensor[(N, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
            pass

        @inner.specialize(DimVarRangePat("N", 1, 5))
        def small(x: Tensor[(N, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
            return proj(x)  # a child, by its name in the class

        @inner.specialize(DimVarRangePat("N", 5, 9))
        def big(x: Tensor[(N, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
            return proj(proj(x))

        @func
        def outer(x: Tensor[(N, 8), "f32"]) -> Tensor[(N, 8), "f32"]:
            return inner(x) * 2.0

    host = host_of(lower(Outer, CpuTarget.default()))
    assert [p.name for p in host.params] == ["x", "proj_w", "out"]


def test_functions_that_a_hand_built_body_calls_reach_children() -> None:
    entry = Proj.entry_function()
    assert isinstance(entry, Function)
    x = Var("x", entry.params[0].type)
    helper = Function("helper", (x,), Call(ChildEntry("proj", entry), (x,)), x.type)
    y = Var("y", x.type)
    outer = Module("outer", (Function("f", (y,), Call(helper, (y,)), y.type),), "f", (Proj.renamed("proj"),))
    assert [p.name for p in host_of(lower(outer, CpuTarget.default())).params] == ["y", "proj_w", "out"]
