"""The attention program of the language, placed over CTAs and threads, against torch in f64."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.dsl import DimVar, Layout, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.evaluator import evaluate
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

B, S, G = DimVar("B", 1, 1 << 16), DimVar("S", 1, 1 << 20), DimVar("G", 1, 1 << 20)
NEG = -1e30
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


torch.set_num_threads(1)  # tiles are small: waiting for threads on a shared machine costs more than they give


def attention_module(D: int, dtype: str, causal: bool) -> Module:
    """Attention with online softmax for one head dimension."""
    SCALE = D**-0.5

    @module(
        entry="attention",
        target=CudaTarget("nvidia.h200_sxm"),
        topologies=(Topology("cta", G), Topology("thread", 128)),
    )
    class Attention:
        @func
        def attention(
            q: Tensor[(B, S, D), dtype], k: Tensor[(B, S, D), dtype], v: Tensor[(B, S, D), dtype]
        ) -> Tensor[(B, S, D), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
                out = tf.zeros(Tensor[(B, S, D), dtype])
                for b in range(B) @ cta.c:
                    for i in tile(S, 64) @ cta.c:
                        qs = tf.reshard(q[b, i], (64, D), "smem")
                        row = tf.reshape(tf.arange(Tensor[(64,), "i32"]), (64, 1))
                        rows = tf.reshard(row, (4 @ t.w, 2, 8 @ t.g, 1), "rmem") + tf.cast(i, "i32")
                        cols0 = tf.reshard(tf.arange(Tensor[(64,), "i32"]), (8, 4 @ t.t, 2), "rmem")
                        low = tf.full_like(tf.zeros(Tensor[(64, 1), "f32"]), NEG)
                        m = tf.reshard(low, (4 @ t.w, 2, 8 @ t.g, 1), "rmem")
                        l = tf.reshard(tf.zeros(Tensor[(64, 1), "f32"]), (4 @ t.w, 2, 8 @ t.g, 1), "rmem")  # noqa: E741
                        o = tf.reshard(
                            tf.zeros(Tensor[(64, D), "f32"]), (4 @ t.w, 2, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem"
                        )
                        for j in tile(min(S, i + 64) if causal else S, 64):
                            ks = tf.reshard(k[b, j], (64, D), "smem")
                            vs = tf.reshard(v[b, j], (64, D), "smem")
                            qk = tf.matmul(qs, tf.transpose(ks, perm=(1, 0)), out_dtype="f32")
                            s = tf.reshard(qk, (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem") * SCALE
                            cols = cols0 + tf.cast(j, "i32")
                            s = tf.where(cols < tf.cast(S, "i32"), s, NEG)
                            if causal:
                                s = tf.where(cols <= rows, s, NEG)
                            m2 = tf.maximum(m, tf.reduce(s, (-1,), True, ReduceKind.MAX))
                            p = tf.exp(s - m2)
                            alpha = tf.exp(m - m2)
                            l = l * alpha + tf.reduce(p, (-1,), True, ReduceKind.SUM)  # noqa: E741
                            ps = tf.reshard(tf.cast(p, dtype), (64, 64), "smem")
                            pv = tf.matmul(ps, vs, out_dtype="f32")
                            o = o * alpha + tf.reshard(pv, (4 @ t.w, 2, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem")
                            m = m2
                        out = tf.insert_slice(out, tf.cast(o / l, dtype), (b, i, 0))
                return out

    return Attention


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("D", [32, 64, 128])
def test_exact_value(D: int, dtype: str, causal: bool) -> None:
    program = attention_module(D, dtype, causal)
    for batch in (1, 3):
        for length in (1, 7, 64, 129, 333):
            torch.manual_seed(length)
            q, k, v = (torch.randn(batch, length, D).to(DTYPES[dtype]) for _ in range(3))
            reference = torch.nn.functional.scaled_dot_product_attention(
                q.double(), k.double(), v.double(), is_causal=causal
            )
            exact = evaluate(program, q, k, v, precision="f64")
            assert isinstance(exact, torch.Tensor)
            assert exact.dtype == torch.float64
            assert (exact - reference).abs().max() <= 1e-12


@pytest.mark.parametrize("dtype", DTYPES)
def test_declared_precision(dtype: str) -> None:
    """P is rounded to the dtype once, and so is the result; the rest is f32."""
    program = attention_module(64, dtype, True)
    q, k, v = (torch.randn(2, 129, 64).to(DTYPES[dtype]) for _ in range(3))
    reference = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    value = evaluate(program, q, k, v)
    assert isinstance(value, torch.Tensor)
    assert value.dtype == DTYPES[dtype]
    bound = 4 * torch.finfo(DTYPES[dtype]).eps * v.double().abs().amax()
    assert (value.double() - reference).abs().max() <= max(bound, 1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("ctas", [1, 3, 132])
def test_on_every_grid(ctas: int, causal: bool) -> None:
    """Tiles computed in rounds of all CTAs: nested spread loops, and under the diagonal bounds that differ."""
    program = attention_module(32, "f32", causal)
    q, k, v = (torch.randn(2, 200, 32) for _ in range(3))
    reference = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    value = evaluate(program, q, k, v, precision="f64", mesh=Mesh((Topology("cta", ctas),), Layout((ctas,))))
    assert (value - reference).abs().max() <= 1e-12
