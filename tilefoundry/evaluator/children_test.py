"""Calls of children with weights: on a reading of the weights, and nowhere else."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import ConstTensor, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.torch_executor import TorchExecutor
from tilefoundry.ir.core import execution
from tilefoundry.python import func, module


@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(1, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return tf.matmul(x, w)


@module(entry="run")
class Pair:
    left = Proj
    right = Proj

    @func
    def run(x: Tensor[(1, 8), "f32"], b: ConstTensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return right(left(x)) + b


@module(entry="block")
class Block:
    pair = Pair

    @func
    def block(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return pair(x) + x

    def forward(self, x, steps):
        for _ in range(steps):
            x = self.block(x)
        return x


@pytest.fixture(autouse=True)
def _evaluator(monkeypatch):
    """The evaluator alone fills the port, whatever fills it in other tests."""
    monkeypatch.setattr(execution, "_executors", [TorchExecutor()])


class Weights:
    """A resource of tensors by dotted path."""

    def __init__(self, tensors, prefix=""):
        self.tensors, self.prefix = tensors, prefix

    def load(self, name):
        return self.tensors[self.prefix + name]

    def load_group(self, name):
        return None

    def subtree(self, seg):
        return Weights(self.tensors, f"{self.prefix}{seg}.")


def weights(seed):
    g = torch.Generator().manual_seed(seed)
    shapes = {"pair.left.w": (8, 8), "pair.right.w": (8, 8), "pair.b": (1, 8)}
    return {name: torch.randn(shape, generator=g) for name, shape in shapes.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_each_child_runs_on_its_own_weights(seed):
    w = weights(seed)
    loaded = Block.load(Weights(w))
    x = torch.randn((1, 8), generator=torch.Generator().manual_seed(seed))
    expected = x
    for _ in range(2):
        expected = expected @ w["pair.left.w"] @ w["pair.right.w"] + w["pair.b"] + expected
    torch.testing.assert_close(loaded(x, 2), expected, rtol=0, atol=0)
    torch.testing.assert_close(loaded.pair.left(x), x @ w["pair.left.w"], rtol=0, atol=0)


def test_f64_goes_through_children():
    w = weights(3)
    loaded = Block.load(Weights(w))
    x = torch.randn(1, 8)
    wide = {name: value.double() for name, value in w.items()}
    expected = x.double() @ wide["pair.left.w"] @ wide["pair.right.w"] + wide["pair.b"] + x.double()
    torch.testing.assert_close(evaluate(loaded, x, precision="f64"), expected, rtol=1e-14, atol=1e-14)
    torch.testing.assert_close(evaluate(loaded, x), loaded.block(x), rtol=0, atol=0)
    with pytest.raises(EvalError, match="expected dtype f32, got f64"):  # what comes from outside is not widened
        evaluate(loaded, x.double(), precision="f64")
    with pytest.raises(TypeError, match=r"takes 1 activation\(s\)"):
        evaluate(loaded, x, x)
    with pytest.raises(EvalError, match="runs where its weights are"):
        evaluate(loaded, x, device="cpu")


def test_a_module_without_weights_refuses():
    with pytest.raises(
        EvalError, match=r"child 'pair' has weights, and none are read here(.|\n)*module\.load"
    ) as caught:
        Block.block(torch.zeros(1, 8))
    assert caught.value.span is not None
    with pytest.raises(EvalError, match="child 'pair' has weights"):
        evaluate(Block, torch.zeros(1, 8))


def test_children_that_are_handed_in():
    entry = Block.entry_function()
    x = torch.ones(1, 8)
    assert evaluate(entry, x, children={"pair": lambda y: 3 * y}).tolist() == [[4.0] * 8]
    exact = evaluate(entry, x, precision="f64", children={"pair": lambda y, options: y / 3})
    assert exact.dtype == torch.float64
    torch.testing.assert_close(exact, x.double() / 3 + 1, rtol=0, atol=0)
    with pytest.raises(EvalError, match="child 'pair' has weights"):
        evaluate(entry, x, children={"other": lambda y: y})
