# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""The ops that are one matrix instruction, compiled: on every target the product, on a GPU the instruction itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.compiler.running import compare
from tilefoundry import Layout, Mesh, ShardLayout, Topology, VerifyError, func, module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.atoms import ATOMS
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir.matrix import wgmma_sm90
from tilefoundry.passes import lower
from tilefoundry.runtime import Equal, MaxAbs
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
WARP, WARPGROUP = Layout((4, 8), (1, 4)), wgmma_sm90.SCOPE
LHS, RHS, ACC = (
    (f.layout, f.attrs) for f in (lambda a: (a.lhs, a.rhs, a.acc))(ATOMS["SM80_16x8x16_F32BF16BF16F32_TN"])
)
WIDE_LHS = wgmma_sm90._A
K_INNERMOST = ((16, 128), (1, 16))


def warp(dtype: str) -> Module:
    """One instruction, whose result is returned as it is."""

    @module(entry="f", target=TARGET, topologies=(Topology("thread", 32),))
    class P:
        @func
        def f(a: Tensor[(16, 16), dtype], b: Tensor[(16, 8), dtype]) -> Tensor[(16, 8), "f32"]:
            with Mesh(("thread",), WARP, ("q", "g")) as m:
                x = tf.reshard(a, ShardLayout(LHS[0], LHS[1], m), "rmem")
                y = tf.reshard(b, ShardLayout(RHS[0], RHS[1], m), "rmem")
                c = tf.mma_sm80_16x8x16(x, y, dtype_a=dtype, dtype_b=dtype, dtype_acc="f32")
                return tf.reshard(c, (16, 8), "gmem")

    return P


def warp_over_depth(dtype: str) -> Module:
    """A loop over 80 columns that carries the accumulator, then an epilogue in registers."""

    @module(entry="f", target=TARGET, topologies=(Topology("thread", 32),))
    class P:
        @func
        def f(a: Tensor[(16, 80), dtype], b: Tensor[(80, 8), dtype]) -> Tensor[(16, 8), "f32"]:
            with Mesh(("thread",), WARP, ("q", "g")) as m:
                zero = tf.reshard(tf.zeros(Tensor[(16, 8), "f32"]), (2, 8 @ m.g, 4 @ m.q, 2), "rmem")
                c = tf.reshard(zero, ShardLayout(ACC[0], ACC[1], m), "rmem") + 0.0
                for k in tile(80, 16):
                    x = tf.reshard(a[:, k], ShardLayout(LHS[0], LHS[1], m), "rmem")
                    y = tf.reshard(b[k, :], ShardLayout(RHS[0], RHS[1], m), "rmem")
                    c = c + tf.mma_sm80_16x8x16(x, y, dtype_a=dtype, dtype_b=dtype, dtype_acc="f32")
                d = tf.reshard(tf.relu(c) * 0.5, (2, 8 @ m.g, 4 @ m.q, 2), "rmem")
                return tf.reshard(d, (16, 8), "gmem")

    return P


def warpgroup(dtype: str, left: str) -> Module:
    """One instruction of four warps, `left` in shared memory or in registers."""

    @module(entry="f", target=TARGET, topologies=(Topology("thread", 128),))
    class P:
        @func
        def f(a: Tensor[(64, 16), dtype], b: Tensor[(16, 128), dtype]) -> Tensor[(64, 128), "f32"]:
            with Mesh(("thread",), WARPGROUP, ("q", "g", "w")) as m:
                layout = ShardLayout(WIDE_LHS[0], WIDE_LHS[1], m) if left == "rmem" else (64, 16)
                x = tf.reshard(a, layout, left)
                y = tf.reshard(b, K_INNERMOST, "smem")
                c = tf.wgmma_sm90_64x128x16(x, y, dtype_a=dtype, dtype_b=dtype, dtype_acc="f32")
                return tf.reshard(c, (64, 128), "gmem")

    return P


TORCH = {"f16": torch.float16, "bf16": torch.bfloat16}
DTYPES = list(TORCH)


def sample(seed: int, *shape: int, dtype: str) -> torch.Tensor:
    """Multiples of 1/8 up to 4: their products and all sums of them are exact in f32."""
    values = torch.randint(-32, 33, shape, generator=torch.Generator().manual_seed(seed))
    return (values / 8).to(TORCH[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_instruction_of_a_warp(dtype: str) -> None:
    compare(warp(dtype), sample(1, 16, 16, dtype=dtype), sample(2, 16, 8, dtype=dtype), bounds=[Equal()])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_warp_accumulates_over_a_loop(dtype: str) -> None:
    a, b = (torch.randn(s, generator=torch.Generator().manual_seed(3)).to(TORCH[dtype]) for s in ((16, 80), (80, 8)))
    # The products are exact in f32, and 80 additions round to 2^-24 of a sum that stays below 64 each.
    compare(warp_over_depth(dtype), a, b, bounds=[MaxAbs(80 * 64 * 2**-24)])


@pytest.mark.parametrize("left", ["smem", "rmem"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_instruction_of_a_warpgroup(dtype: str, left: str) -> None:
    a, b = sample(4, 64, 16, dtype=dtype), sample(5, 16, 128, dtype=dtype)
    compare(warpgroup(dtype, left), a, b, bounds=[Equal()])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("build", "instruction"),
    [
        (warp, r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.{0}\.{0}\.f32"),
        (warp_over_depth, r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.{0}\.{0}\.f32"),
        (lambda d: warpgroup(d, "smem"), r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.{0}\.{0}"),
        (lambda d: warpgroup(d, "rmem"), r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.{0}\.{0}"),
    ],
    ids=["warp", "loop", "warpgroup", "left in registers"],
)
def test_the_compiler_issues_the_instruction(tmp_path: Path, build, instruction: str, dtype: str) -> None:
    linkable = emit_module(lower(build(dtype), TARGET), TARGET)
    [text] = compile_ptx(linkable, CompilerOptions(), tmp_path).values()
    assert len(re.findall(instruction.format(dtype), text)) == 2  # in the vector and in the general variant
    assert not re.search(r"ldmatrix|fma\.rn", text)


def test_one_warp_of_several_is_refused() -> None:
    @module(entry="f", target=TARGET, topologies=(Topology("thread", 64),))
    class P:
        @func
        def f(a: Tensor[(16, 16), "f16"], b: Tensor[(16, 8), "f16"]) -> Tensor[(16, 8), "f32"]:
            with Mesh(("thread",), Layout((2, 4, 8), (32, 1, 4)), ("w", "q", "g"))[0] as m:
                x = tf.reshard(a, ShardLayout(LHS[0], LHS[1], m), "rmem")
                y = tf.reshard(b, ShardLayout(RHS[0], RHS[1], m), "rmem")
                c = tf.mma_sm80_16x8x16(x, y, dtype_a="f16", dtype_b="f16", dtype_acc="f32")
                return tf.reshard(c, (16, 8), "gmem")

    with pytest.raises(VerifyError, match="a part of the CTA's threads cannot be compiled") as error:
        lower(P)
    assert "tf.matmul" in str(error.value)
