"""A prototype evaluates by the one variant that serves the inputs' extents."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import tilefoundry  # noqa: F401  (brings the evaluator to Modules)
from tilefoundry.diagnostics import EvalError, VerifyError
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.python import func, module

N = DimVar("N", 1, 9)


@module(entry="f")
class Disp:
    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @f.specialize(DimVarRangePat("N", 1, 5))
    def small(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * x

    @f.specialize(DimVarRangePat("N", 5, 9))
    def big(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x + x


@pytest.mark.parametrize("n", range(1, 9))
def test_every_extent_has_its_variant(n):
    x = torch.arange(n, dtype=torch.float32) + 3
    expected = x * x if n < 5 else x + x
    torch.testing.assert_close(evaluate(Disp, x), expected, rtol=0, atol=0)


@pytest.mark.parametrize("n", [0, 9])
def test_other_extents_are_refused(n):
    with pytest.raises(EvalError, match=rf"'N' = {n} lies outside its envelope \[1, 9\)"):
        evaluate(Disp, torch.zeros(n))


def test_a_variant_evaluates_for_its_own_extents_only():
    small, big = Disp.entry_function().variants
    assert evaluate(small, torch.full((4,), 3.0)).tolist() == [9.0] * 4
    with pytest.raises(EvalError, match=r"serves 'N' in \[1, 5\), got 5(.|\n)*evaluate 'f' itself"):
        evaluate(small, torch.zeros(5))
    with pytest.raises(EvalError, match=r"serves 'N' in \[5, 9\), got 4"):
        evaluate(big, torch.zeros(4))


def test_variants_outside_of_a_module_are_checked_as_well():
    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @f.specialize(DimVarRangePat("N", 1, 5))
    def low(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * x

    @f.specialize(DimVarRangePat("N", 4, 9))
    def high(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x + x

    with pytest.raises(VerifyError, match="gap or overlap at 4"):  # both serve 4, and mean different things
        evaluate(f, torch.ones(4))


def test_a_variant_with_other_parameters_is_refused():
    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @f.specialize(DimVarRangePat("N", 1, 9))
    def wider(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x + y

    with pytest.raises(VerifyError, match="has the signature"):
        evaluate(f, torch.ones(4))


@func
def outside(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
    pass


@outside.specialize(DimVarRangePat("N", 1, 5))
def outside_low(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
    return x * x


@outside.specialize(DimVarRangePat("N", 5, 9))
def outside_high(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
    return x + x


HALF = DimVar("H", 1, 5)


@module(entry="g")
class Calls:
    """Calls of prototypes whose variant only a run decides: inside of a variant, in a loop, of another extent."""

    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @f.specialize(DimVarRangePat("N", 1, 3))
    def tiny(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * 10.0

    @f.specialize(DimVarRangePat("N", 3, 9))
    def large(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return outside(x) - x

    @func
    def g(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        y = f(x) + 1.0
        for _ in range(2):
            y = outside(y)
        return y

    @func
    def twice(x: Tensor[(HALF,), "f32"]) -> Tensor[(HALF * 2,), "f32"]:
        return outside(tf.concat(x, x, axis=0))


def outside_of(x):
    return x * x if len(x) < 5 else x + x


@pytest.mark.parametrize("n", range(1, 9))
def test_a_call_inside_of_a_function_takes_the_variant_of_the_run(n):
    x = torch.arange(n, dtype=torch.float32)
    expected = x * 10 + 1 if n < 3 else outside_of(x) - x + 1
    expected = outside_of(outside_of(expected))
    torch.testing.assert_close(evaluate(Calls, x), expected, rtol=0, atol=0)
    torch.testing.assert_close(Calls.g(x), expected, rtol=0, atol=0)
    assert evaluate(Calls, x, precision="f64").dtype is torch.float64
    if n < 5:
        torch.testing.assert_close(Calls.twice(x), outside_of(torch.cat([x, x])), rtol=0, atol=0)


@module(entry="scale")
class Weighted:
    @func
    def scale(x: Tensor[(N,), "f32"], w: ConstTensor[(1,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * w


@module(entry="inner")
class Middle:
    weighted = Weighted

    @func
    def chosen(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @chosen.specialize(DimVarRangePat("N", 1, 5))
    def plain(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x

    @chosen.specialize(DimVarRangePat("N", 5, 9))
    def scaled(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return weighted(x)

    @func
    def inner(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return chosen(x) + 1.0


@module(entry="outer")
class Outer:
    middle = Middle

    @func
    def outer(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return middle(x)  # reaches a weight in one of the variants that it may select


class OneWeight:
    """A resource that holds one tensor, whatever the path."""

    def load(self, name):
        return torch.tensor([3.0])

    def load_group(self, name):
        raise KeyError(name)

    def subtree(self, name):
        return self


@pytest.mark.parametrize(("n", "factor"), [(4, 1.0), (5, 3.0)])
def test_weights_are_reached_through_the_variant_of_the_run(n, factor):
    x = torch.arange(n, dtype=torch.float32)
    torch.testing.assert_close(Outer.load(OneWeight())(x), x * factor + 1, rtol=0, atol=0)
    inner = Middle.load(OneWeight())
    torch.testing.assert_close(inner(x), x * factor + 1, rtol=0, atol=0)


@pytest.mark.parametrize("made", [copy.deepcopy, lambda reading: pickle.loads(pickle.dumps(reading))])
def test_a_reading_is_copied_with_its_weights(made):
    reading = Middle.load(OneWeight())
    again = made(reading)
    assert torch.equal(again.weighted.constants["w"], reading.weighted.constants["w"])
    assert again.weighted.constants["w"].data_ptr() != reading.weighted.constants["w"].data_ptr()
    x = torch.arange(6, dtype=torch.float32)
    assert torch.equal(again(x), reading(x))
    assert {"weighted", "inner", "constants"} <= set(dir(reading))
