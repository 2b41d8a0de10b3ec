"""Extents of inputs bind the DimVars of a signature."""

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator import evaluate
from tilefoundry.ir.core import Call, Function, Var
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import BinaryKind, Zeros
from tilefoundry.ir.samples import binary, call
from tilefoundry.ir.types import make_tensor_type

M, N = DimVar("M", 1, 5), DimVar("N", 1, 9)


def program(*shapes, result):
    """Zeros of an extent that the inputs tell."""
    params = tuple(Var(f"x{i}", make_tensor_type(s, "f32")) for i, s in enumerate(shapes))
    type_ = make_tensor_type(result, "f32")
    zeros = call(Zeros(type_))
    return Function("f", params, binary(BinaryKind.ADD, zeros, zeros), type_)


@pytest.mark.parametrize(
    ("shapes", "result", "given", "expected"),
    [
        ([(2 * M,)], (M,), [(6,)], (3,)),
        ([(M * 2 + 1,)], (M, 2), [(7,)], (3, 2)),
        ([(5 - M,)], (M,), [(2,)], (3,)),
        ([(2 * M,), (M * N, N)], (M + N,), [(6,), (12, 4)], (7,)),
        ([(2 * M,), (M,)], (M,), [(6,), (3,)], (3,)),
    ],
)
def test_an_affine_extent_tells_its_dim_var(shapes, result, given, expected):
    out = evaluate(program(*shapes, result=result), *(torch.zeros(g) for g in given))
    assert tuple(out.shape) == expected


@pytest.mark.parametrize(
    ("shapes", "given", "words"),
    [
        ([(2 * M,)], [(5,)], "'x0' axis 0: expected extent M .* got 5, which no 'M' gives"),
        ([(2 * M,)], [(10,)], r"'M' = 5 lies outside its envelope \[1, 5\)"),
        ([(2 * M,), (2 * M,)], [(4,), (6,)], r"'x1' axis 0: expected extent .* = 4, got 6"),
        ([(2 * M,), (M,)], [(4,), (3,)], r"'x0' axis 0: expected extent .* = 6, got 4"),
    ],
)
def test_what_has_no_solution_is_refused(shapes, given, words):
    with pytest.raises(EvalError, match=words):
        evaluate(program(*shapes, result=(M,)), *(torch.zeros(g) for g in given))


def test_a_call_that_was_built_by_hand_is_elaborated():
    x, y = Var("x", make_tensor_type((N,), "f32")), Var("y", make_tensor_type((4,), "f32"))
    double = Function("double", (x,), binary(BinaryKind.ADD, x, x), x.type)
    f = Function("f", (y,), Call(double, (Call(double, (y,)),)), y.type)
    assert evaluate(f, torch.ones(4)).tolist() == [4.0] * 4


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.vmap(f)(torch.ones(3, 4)),
        lambda f: torch.func.grad(lambda x: f(x).sum())(torch.ones(4)),
        lambda f: torch.func.jvp(f, (torch.ones(4),), (torch.ones(4),)),
    ],
)
def test_tensors_that_torch_transforms_are_refused(transform):
    f = program((4,), result=(4,))
    with pytest.raises(EvalError, match="input 'x0' is a tensor that torch transforms(.|\n)*outside of torch.vmap"):
        transform(lambda x: evaluate(f, x))


def test_what_cannot_be_evaluated_is_refused():
    x = Var("x", make_tensor_type((4,), "f32"))
    with pytest.raises(EvalError, match="unknown backend 'jax'(.|\n)*torch"):
        evaluate(Function("f", (x,), x, x.type), torch.zeros(4), backend="jax")
    for device in ("nope", ["cpu"]):
        with pytest.raises(EvalError, match=r"device must name one of torch's devices, got (.|\n)*cuda:0"):
            evaluate(Function("f", (x,), x, x.type), torch.zeros(4), device=device)
    with pytest.raises(EvalError, match="'f' is a prototype without variants"):
        evaluate(Function("f", (x,), None, x.type), torch.zeros(4))
