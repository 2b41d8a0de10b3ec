"""mma_sm80_16x8x16, wgmma_sm90_64x128x16 against a product in f64, in programs."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest

from tilefoundry.dsl import Layout, Mesh, ShardLayout, Tensor, Topology, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.testing import assert_same, sample
from tilefoundry.ir.atoms import ATOMS
from tilefoundry.ir.types import DType
from tilefoundry.python import func

ATOM = ATOMS["SM80_16x8x16_F32BF16BF16F32_TN"]
LHS, RHS, ACC = (ATOM.lhs.layout, ATOM.lhs.attrs), (ATOM.rhs.layout, ATOM.rhs.attrs), (ATOM.acc.layout, ATOM.acc.attrs)


@func(topologies=(Topology("thread", 32),))
def warp(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"]) -> Tensor[(16, 8), "f32"]:
    with Mesh(("thread",), Layout((4, 8), (1, 4)), ("q", "g")) as m:
        x = tf.reshard(a, ShardLayout(LHS[0], LHS[1], m), "rmem")
        y = tf.reshard(b, ShardLayout(RHS[0], RHS[1], m), "rmem")
        c = tf.mma_sm80_16x8x16(x, y, dtype_a="bf16", dtype_b="bf16", dtype_acc="f32")
        return tf.reshard(c, (16, 8), "gmem")


@func(topologies=(Topology("thread", 128),))
def warpgroup(a: Tensor[(64, 16), "f16"], b: Tensor[(16, 128), "f16"]) -> Tensor[(64, 128), "f32"]:
    with Mesh(("thread",), Layout((4, 8, 4), (1, 4, 32)), ("q", "g", "w")):
        x = tf.reshard(a, (64, 16), "smem")
        y = tf.reshard(b, ((16, 128), (1, 16)), "smem")
        c = tf.wgmma_sm90_64x128x16(x, y, dtype_a="f16", dtype_b="f16", dtype_acc="f32")
        return tf.reshard(c, (64, 128), "gmem")


@pytest.mark.parametrize(("program", "m", "n", "dtype"), [(warp, 16, 8, DType.bf16), (warpgroup, 64, 128, DType.f16)])
def test_products(program, m, n, dtype):
    a, b = sample((m, 16), dtype, 1), sample((16, n), dtype, 2)
    exact = a.double() @ b.double()
    assert_same(evaluate(program, a, b), exact.float())  # all products and sums are exact in f32
    assert_same(evaluate(program, a, b, precision="f64"), exact)
