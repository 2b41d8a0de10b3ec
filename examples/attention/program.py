# mypy: ignore-errors
# The body below is the tensor language: its names and annotations mean nothing to Python's type system.
"""Attention forward with online softmax, placed by its author over CTAs and threads.

One CTA works on a tile of queries at a time, 16 for each warp. Scores and output live in registers in the accumulator
layout of tensor cores: warp w, quad row g and quad column t hold row 16w + 8h + g and column 8n + 2t + c, so f16 and
bf16 products run on them, and the weights of the softmax are multiplied from registers. Online softmax after Milakov
and Gimelshein (arXiv:1805.02867), in the loop order of FlashAttention-2.
"""

import math

from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

HEAD_DIMS = (32, 64, 128)
DTYPES = ("f32", "f16", "bf16")

# Query rows of a CTA, 16 for each of its warps: for 16-bit types two warpgroups, which share the keys and values that
# they read; f32 has no tensor cores, and larger tiles.
_ROWS = {"f32": 64, "f16": 128, "bf16": 128}
# Finite, so that a row without a key yet gives exp2(0) and not NaN; below every score that f32 can use.
_MASKED = -1e30


def attention_module(head_dim: int, dtype: str = "f32", causal: bool = False, ctas: int | None = None) -> Module:
    """The module whose entry `attention(q, k, v)` is softmax(q kᵀ / sqrt(head_dim)) v, for each of B heads.

    Shapes: q, k, v and the result are (B, S, head_dim) in `dtype`; B and S are bound by the call, B = batch × heads.
    Products accumulate in f32, and the softmax is in f32; its weights are rounded to `dtype` for the second product.

    Args:
        head_dim: 32, 64 or 128.
        dtype: "f32", "f16" or "bf16".
        causal: whether a query sees only keys up to its own position.
        ctas: CTAs in the grid; None lets each launch choose. Every number gives the same result.

    Raises:
        ValueError: `head_dim` or `dtype` is none of these, or `ctas` is less than 1.
    """
    if head_dim not in HEAD_DIMS:
        raise ValueError(f"head_dim must be one of {HEAD_DIMS}, got {head_dim!r}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {DTYPES}, got {dtype!r}")
    if ctas is not None and ctas < 1:
        raise ValueError(f"ctas must be at least 1, got {ctas}")
    B, S = DimVar("B", 1, 1 << 16), DimVar("S", 1, 1 << 20)
    G = DimVar("G", 1, 1 << 20) if ctas is None else ctas
    D, R, DT, CAUSAL, MASKED = head_dim, _ROWS[dtype], dtype, causal, _MASKED
    W = R // 16
    # Keys of one step: what registers hold of the scores, and what lets a second CTA share the SM at 64 dims.
    # TFLOP/s on an H200 in bf16: 128 dims 325, 349, 370 with 64, 96, 128 keys; 64 dims 269, 255 with 64, 128.
    C = {"f32": {32: 64, 64: 64, 128: 32}}.get(dtype, {32: 64, 64: 64, 128: 128})[head_dim]
    # Powers of two instead of e: exp(x) = exp2(x log2(e)), and the factor is part of the scale.
    SCALE = math.log2(math.e) / math.sqrt(head_dim)

    @module(
        entry="attention",
        target=CudaTarget("nvidia.h200_sxm"),
        topologies=(Topology("cta", G), Topology("thread", 32 * W)),
    )
    class Attention:
        @func
        def attention(
            q: Tensor[(B, S, D), DT], k: Tensor[(B, S, D), DT], v: Tensor[(B, S, D), DT]
        ) -> Tensor[(B, S, D), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                out = tf.zeros(Tensor[(B, S, D), DT])
                for b in range(B) @ cta.c:
                    for i in tile(S, R) @ cta.c:
                        qs = tf.reshard(q[b, i], (R, D), "smem")
                        row = tf.reshape(tf.arange(Tensor[(R,), "i32"]), (R, 1))
                        rows = tf.reshard(row, (W @ t.w, 2, 8 @ t.g, 1), "rmem") + tf.cast(i, "i32")
                        column = tf.reshard(tf.arange(Tensor[(C,), "i32"]), (C // 8, 4 @ t.t, 2), "rmem")
                        zero = tf.reshard(tf.zeros(Tensor[(R, 1), "f32"]), (W @ t.w, 2, 8 @ t.g, 1), "rmem")
                        l = zero  # noqa: E741
                        m = tf.full_like(zero, MASKED)
                        o = tf.reshard(
                            tf.zeros(Tensor[(R, D), "f32"]), (W @ t.w, 2, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem"
                        )
                        # The tile of the last query that a causal mask lets see anything is the query's own.
                        for j in tile(i + R if CAUSAL else S, C):
                            ks = tf.reshard(k[b, j], (C, D), "smem")
                            vs = tf.reshard(v[b, j], (C, D), "smem")
                            scores = tf.matmul(qs, tf.transpose(ks, perm=(1, 0)), out_dtype="f32")
                            s = tf.reshard(scores, (W @ t.w, 2, 8 @ t.g, C // 8, 4 @ t.t, 2), "rmem") * SCALE
                            columns = column + tf.cast(j, "i32")
                            visible = columns <= rows if CAUSAL else columns < tf.cast(S, "i32")
                            s = tf.where(visible, s, MASKED)
                            m_new = tf.maximum(m, tf.reduce(s, (-1,), True, ReduceKind.MAX))
                            p = tf.exp2(s - m_new)
                            alpha = tf.exp2(m - m_new)
                            l = l * alpha + tf.reduce(p, (-1,), True, ReduceKind.SUM)  # noqa: E741
                            ps = tf.reshard(tf.cast(p, DT), (R, C), "smem")
                            pv = tf.matmul(ps, vs, out_dtype="f32")
                            o = o * alpha + tf.reshard(pv, (W @ t.w, 2, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem")
                            m = m_new
                        out = tf.insert_slice(out, tf.cast(o / l, DT), (b, i, 0))
            return out

    return Attention
