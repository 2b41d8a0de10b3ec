"""Programs whose DimVar is no axis by itself: an axis such as ``2*M`` tells it, when evaluated and when compiled."""

# mypy: ignore-errors
from __future__ import annotations

import pytest
import torch

from tests.compiler.running import compiled
from tilefoundry import DimVar, Mesh, Topology, VerifyError, evaluate, func, lower, module
from tilefoundry.dsl import Tensor, tf
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
M, N = DimVar("M", 1, 1 << 10), DimVar("N", 1, 1 << 10)
G = DimVar("G", 1, 1 << 20)
LEVELS = (Topology("cta", G), Topology("thread", 32))


@module(entry="pairs", target=TARGET, topologies=LEVELS)
class Pairs:
    """The sums of neighbouring rows."""

    @func
    def pairs(x: Tensor[(2 * M, 64), "f32"]) -> Tensor[(M, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("l",)) as t:
            y = tf.zeros(Tensor[(M, 64), "f32"])
            for i in range(M) @ cta.c:
                even = tf.reshard(x[i * 2], (32 @ t.l, 2), "rmem")
                odd = tf.reshard(x[i * 2 + 1], (32 @ t.l, 2), "rmem")
                y = tf.insert_slice(y, even + odd, (i, 0))
        return y


@pytest.fixture(scope="module")
def pairs():
    return compiled(Pairs)


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_the_compiled_program_finds_the_extent(pairs, rows):
    x = torch.randn(2 * rows, 64)
    expected = x[::2] + x[1::2]
    assert torch.equal(evaluate(Pairs, x), expected)
    assert torch.equal(pairs(x), expected)
    out = torch.full((rows, 64), float("nan"))
    pairs(x, out)
    assert torch.equal(out, expected)


def test_extents_without_solution_are_refused_by_name(pairs):
    with pytest.raises(ValueError, match=r"argument 'x' has extent 5 on axis 0, expected 2 \* 'M' \+ 0"):
        pairs(torch.zeros(5, 64))
    with pytest.raises(ValueError, match=r"argument 'x' has extent 4096 on axis 0, outside of 'M' in \[1, 1024\)"):
        pairs(torch.zeros(4096, 64))
    with pytest.raises(ValueError, match=r"'out' has extent 3 on axis 0, expected 2|'M' is 2"):
        pairs(torch.zeros(4, 64), torch.zeros(3, 64))


def unsolvable():
    """A program whose only axis is a product of two DimVars."""

    @module(entry="f", target=TARGET, topologies=LEVELS)
    class Product:
        @func
        def f(x: Tensor[(M * N,), "f32"]) -> Tensor[(M * N,), "f32"]:
            return x + x

    return lower(Product)


def test_an_extent_that_no_axis_tells_is_refused_at_its_place():
    words = r"affine_extents_test.py:\d+:\d+: .*extent M \* N of the parameter 'x' needs M, N, which no axis"
    with pytest.raises(VerifyError, match=words):
        unsolvable()


def test_a_dim_var_may_have_a_name_that_cpp_does_not_allow():
    D = DimVar("seq-len", 1, 100)

    @module(entry="double", target=TARGET, topologies=LEVELS)
    class Double:
        @func
        def double(x: Tensor[(D, 64), "f32"]) -> Tensor[(D, 64), "f32"]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("l",)) as t:
                y = tf.zeros(Tensor[(D, 64), "f32"])
                for i in range(D) @ cta.c:
                    row = tf.reshard(x[i], (32 @ t.l, 2), "rmem")
                    y = tf.insert_slice(y, row + row, (i, 0))
            return y

    x = torch.randn(5, 64)
    assert torch.equal(compiled(Double)(x), x + x)
