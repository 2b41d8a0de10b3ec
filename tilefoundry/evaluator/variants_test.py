"""A prototype evaluates by the one variant that serves the inputs' extents."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError, VerifyError
from tilefoundry.dsl import DimVar, DimVarRangePat, Tensor
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
