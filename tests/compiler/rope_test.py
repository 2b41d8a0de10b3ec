# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Rotary embedding, compiled: windows of what it gives for global tensors, and fragments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.compiler.running import TARGET as WHERE
from tests.compiler.running import compare, compiled
from tilefoundry import Broadcast, DimVar, Layout, Mesh, ShardLayout, Topology, VerifyError, func, module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.runtime import AllClose, Ulp
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
B, S, P, G = (DimVar(name, 1, 1 << 20) for name in "BSPG")
TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


def of_global_tensors(dtype: str, table: str = "f32", index: str = "i32", heads: int = 4, key_heads: int = 2) -> Module:
    """Tiles of 8 positions of the queries, whose heads and widths are spread over the threads, and of the keys."""
    H, HK, D = heads, key_heads, 64

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class M:
        @func
        def f(
            q: Tensor[(B, S, H, D), dtype],
            k: Tensor[(B, S, HK, D), dtype],
            cos: Tensor[(P, D), table],
            sin: Tensor[(P, D), table],
            at: Tensor[(S,), index],
        ) -> tuple[Tensor[(B, S, H, D), dtype], Tensor[(B, S, HK, D), dtype]]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 16), ("r", "t")) as t:
                rq, rk = tf.rope(q, k, cos, sin, at)
                a = tf.zeros(Tensor[(B, S, H, D), dtype])
                for b in range(B) @ cta.c:
                    for i in tile(S, 8) @ cta.c:
                        x = tf.reshard(rq[b, i], (2, 4 @ t.r, H, 16 @ t.t, D // 16), "rmem")
                        a = tf.insert_slice(a, x, (b, i, 0, 0))
                c = tf.zeros(Tensor[(B, S, HK, D), dtype])
                for n in range(B) @ cta.c:
                    for j in tile(S, 8) @ cta.c:
                        for h in range(HK) @ cta.c:
                            y = tf.reshard(rk[n, j, h], (2, 4 @ t.r, D // 16, 16 @ t.t), "rmem")
                            c = tf.insert_slice(c, y, (n, j, h, 0))
            return a, c

    return M


def of_fragments(dtype: str, table: str) -> Module:
    """Operands in registers; the caches and positions are copies that every thread has."""

    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class M:
        @func
        def f(
            q: Tensor[(8, 4, 16), dtype],
            k: Tensor[(8, 4, 16), dtype],
            cos: Tensor[(5, 16), table],
            sin: Tensor[(5, 16), table],
            at: Tensor[(8,), "i32"],
        ) -> tuple[Tensor[(8, 4, 16), dtype], Tensor[(8, 4, 16), dtype]]:
            with Mesh(("thread",), (8, 4), ("s", "h")) as t:
                x, y = tf.reshard(q, (8 @ t.s, 4 @ t.h, 16), "rmem"), tf.reshard(k, (8 @ t.s, 4 @ t.h, 16), "rmem")
                copies = ShardLayout(Layout((5, 16), (16, 1)), (Broadcast(), Broadcast()), t)
                c, d = tf.reshard(cos, copies, "rmem"), tf.reshard(sin, copies, "rmem")
                a, b = tf.rope(x, y, c, d, tf.reshard(at, (8 @ t.s,), "rmem"))
                return tf.reshard(a, (8, 4, 16), "gmem"), tf.reshard(b, (8, 4, 16), "gmem")

    return M


def sample(seed: int, *shape: int, dtype: str) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(TORCH[dtype])


def operands(dtype: str, table: str, *, batch: int = 2, length: int = 21, heads=(4, 2), width: int = 64, index=None):
    places = 2 * length
    at = torch.randperm(places, generator=torch.Generator().manual_seed(5))[:length].to(index or torch.int32)
    angle = torch.outer(torch.arange(places) / 7, 0.9 ** torch.arange(width // 2))
    cos, sin = (torch.cat((f(angle), f(angle)), -1).to(TORCH[table]) for f in (torch.cos, torch.sin))
    q, k = (sample(seed, batch, length, h, width, dtype=dtype) for seed, h in enumerate(heads))
    return q, k, cos, sin, at


# In f32 two products and their sum round to 2^-24 each, of terms up to 5; then narrower types round once more.
BOUNDS = {
    "f32": [AllClose(atol=3 * 5 * 2**-24, rtol=0)],
    "f16": [AllClose(atol=3 * 5 * 2**-24, rtol=2**-10)],
    "bf16": [AllClose(atol=3 * 5 * 2**-24, rtol=2**-7)],
    "f64": [Ulp(max=64)],
}


@pytest.mark.parametrize(
    ("dtype", "table", "index"), [("f32", "f32", "i32"), ("bf16", "bf16", "i64"), ("f16", "f32", "i32")]
)
def test_windows_of_global_tensors(dtype: str, table: str, index: str) -> None:
    tensors = operands(dtype, table, index={"i32": torch.int32, "i64": torch.int64}[index])
    compare(of_global_tensors(dtype, table, index), *tensors, bounds=BOUNDS[dtype])


def test_one_position_and_positions_of_rank_two() -> None:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 2), Topology("thread", 32)))
    class M:
        @func
        def f(
            q: Tensor[(3, 1, 2, 8), "f32"],
            k: Tensor[(3, 1, 2, 8), "f32"],
            cos: Tensor[(P, 8), "f32"],
            sin: Tensor[(P, 8), "f32"],
            at: Tensor[(1, 1), "i64"],
        ) -> Tensor[(3, 1, 2, 8), "f32"]:
            with Mesh(("thread",), (4, 8), ("r", "t")) as t:
                x, _ = tf.rope(q, k, cos, sin, at)
                return tf.reshard(tf.reshard(x, (3, 1, 2, 8 @ t.t), "rmem"), (3, 1, 2, 8), "gmem")

    tensors = operands("f32", "f32", batch=3, length=1, heads=(2, 2), width=8, index=torch.int64)
    compare(M, *tensors[:4], tensors[4][:, None], bounds=BOUNDS["f32"])


@pytest.mark.parametrize(("dtype", "table"), [("f64", "f64"), ("bf16", "f32")])
def test_fragments(dtype: str, table: str) -> None:
    q, k, cos, sin, _ = operands(dtype, table, batch=1, length=8, heads=(4, 4), width=16)
    at = torch.tensor([4, 0, 3, 2, 2, 1, 0, 4], dtype=torch.int32)
    compare(of_fragments(dtype, table), q[0], k[0], cos[:5], sin[:5], at, bounds=BOUNDS[dtype])


@pytest.mark.skipif(WHERE != "cpu", reason="on a GPU the launch is stopped by a trap, which ends the process")
@pytest.mark.parametrize("position", [-1, 42])
def test_positions_outside_of_the_caches_stop_the_launch(position: int) -> None:
    *tensors, at = operands("f32", "f32")
    at[20] = position
    with pytest.raises(Exception, match=f"index {position} is out of range for axis 0 of extent 42"):
        compiled(of_global_tensors("f32"))(*tensors, at)


def test_the_cuda_compiler_takes_it(tmp_path: Path) -> None:
    linkable = emit_module(lower(of_global_tensors("bf16", "f32", "i64"), TARGET), TARGET)
    [text] = compile_ptx(linkable, CompilerOptions(), tmp_path).values()
    # Four neighbours of each thread at once, although rows beyond the end are masked.
    assert re.search(r"ld\.global\.v4\.\w16", text) and re.search(r"st\.global\S*\.v2\.\w32", text)


def test_shared_tiles_are_refused() -> None:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class M:
        @func
        def f(
            q: Tensor[(8, 4, 16), "f32"], c: Tensor[(5, 16), "f32"], at: Tensor[(8,), "i32"]
        ) -> Tensor[(8, 4, 16), "f32"]:
            with Mesh(("thread",), (8, 4), ("s", "h")) as t:
                x, d = tf.reshard(q, (8, 4, 16), "smem"), tf.reshard(c, (5, 16), "smem")
                a, _ = tf.rope(x, x, d, d, tf.reshard(at, (8,), "smem"))
                return tf.reshard(tf.reshard(a, (8 @ t.s, 4 @ t.h, 16), "rmem"), (8, 4, 16), "gmem")

    with pytest.raises(VerifyError, match="tf.rope of tiles in smem cannot be compiled") as error:
        lower(M)
    assert "place windows of what it gives" in str(error.value)
