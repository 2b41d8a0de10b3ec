# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs around `tf.attention`, of which windows, shared tiles and fragments are placed."""

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
B, S, T, G = (DimVar(name, 1, 1 << 16) for name in "BSTG")


def attention_op(
    dtype: str, heads: int = 4, key_heads: int = 2, width: int = 32, value_width: int = 32, rows: int = 64, **attributes
) -> Module:
    """Tiles of `rows` queries of one head, as an accumulator of tensor cores."""
    H, HK, D, DV, R, W = heads, key_heads, width, value_width, rows, rows // 16
    SCALE, CAUSAL = attributes.get("scale"), attributes.get("causal", False)

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32 * W)))
    class P:
        @func
        def f(
            q: Tensor[(B, H, S, D), dtype], k: Tensor[(B, HK, T, D), dtype], v: Tensor[(B, HK, T, DV), dtype]
        ) -> Tensor[(B, H, S, DV), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                o = tf.attention(q, k, v, scale=SCALE, causal=CAUSAL)
                out = tf.zeros(Tensor[(B, H, S, DV), dtype])
                for b in range(B) @ cta.c:
                    for h in range(H) @ cta.c:
                        for i in tile(S, R) @ cta.c:
                            r = tf.reshard(o[b, h, i], (W @ t.w, 2, 8 @ t.g, DV // 8, 4 @ t.t, 2), "rmem")
                            out = tf.insert_slice(out, r, (b, h, i, 0))
            return out

    return P


def masked(dtype: str, shape: tuple, kind: str, causal: bool = False, rows: int = 16) -> Module:
    """The same with a mask, for 4 heads in 2 groups; the columns of the result in windows of 16."""
    H, HK, D, R, W, CAUSAL = 4, 2, 24, rows, rows // 16, causal

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32 * W)))
    class P:
        @func
        def f(
            q: Tensor[(B, H, S, D), dtype],
            k: Tensor[(B, HK, T, D), dtype],
            v: Tensor[(B, HK, T, D), dtype],
            mask: Tensor[shape, kind],
        ) -> Tensor[(B, H, S, D), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                o = tf.attention(q, k, v, mask, causal=CAUSAL)
                out = tf.zeros(Tensor[(B, H, S, D), dtype])
                for b in range(B) @ cta.c:
                    for h in range(H) @ cta.c:
                        for i in tile(S, R) @ cta.c:
                            for d in tile(D, 16) @ cta.c:
                                r = tf.reshard(o[b, h, i, d], (W @ t.w, 2, 8 @ t.g, 2, 4 @ t.t, 2), "rmem")
                                out = tf.insert_slice(out, r, (b, h, i, d))
            return out

    return P


def head_tiles(dtype: str, heads: int, key_heads: int, head_tile: int, length: int, causal: bool, bool_mask: bool):
    """Tiles of the heads that share a key head, whose rows stand one head after the other."""
    H, HK, HT, R, D, CAUSAL, MASK = heads, key_heads, head_tile, length, 32, causal, (heads, 1, T)

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
    class P:
        @func
        def f(
            q: Tensor[(B, H, S, D), dtype],
            k: Tensor[(B, HK, T, D), dtype],
            v: Tensor[(B, HK, T, D), dtype],
            mask: Tensor[MASK, "bool"],
        ) -> Tensor[(B, H, S, D), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8, 4), ("g", "t")) as t:
                o = tf.attention(q, k, v, mask, causal=CAUSAL) if bool_mask else tf.attention(q, k, v, causal=CAUSAL)
                out = tf.zeros(Tensor[(B, H, S, D), dtype])
                for b in tile(B, 1) @ cta.c:
                    for h in tile(H, HT) @ cta.c:
                        for i in tile(S, R) @ cta.c:
                            r = tf.reshard(o[b, h, i], (1, HT, R // 8, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem")
                            out = tf.insert_slice(out, r, (b, h, i, 0))
            return out

    return P


def decode(dtype: str, heads: int, key_heads: int, width: int) -> Module:
    """One query of each head: the heads that share a key head are the rows."""
    H, HK, D, HT = heads, key_heads, width, heads // key_heads

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
    class P:
        @func
        def f(
            q: Tensor[(B, H, 1, D), dtype], k: Tensor[(B, HK, T, D), dtype], v: Tensor[(B, HK, T, D), dtype]
        ) -> Tensor[(B, H, 1, D), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8, 4), ("g", "t")) as t:
                o = tf.attention(q, k, v, causal=True)
                out = tf.zeros(Tensor[(B, H, 1, D), dtype])
                for b in range(B) @ cta.c:
                    for h in tile(H, HT) @ cta.c:
                        r = tf.reshard(o[b, h, 0], (HT // 8, 8 @ t.g, D // 8, 4 @ t.t, 2), "rmem")
                        out = tf.insert_slice(out, tf.reshape(r, (HT, 1, D)), (b, h, 0, 0))
            return out

    return P


def tiles(dtype: str, storage: str, causal: bool, key_heads: int = 1) -> Module:
    """Operands that are tiles of one key head already."""
    H, HK, R, N, D, CAUSAL = 2 * key_heads, key_heads, 16, 24, 16, causal

    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class P:
        @func
        def f(
            q: Tensor[(1, H, R, D), dtype], k: Tensor[(1, HK, N, D), dtype], v: Tensor[(1, HK, N, D), dtype]
        ) -> Tensor[(1, H, R, D), dtype]:
            with Mesh(("thread",), (8, 4), ("g", "t")) as t:
                if storage == "smem":
                    x = tf.reshard(q, (1, H, R, D), "smem")
                    y, z = tf.reshard(k, (1, HK, N, D), "smem"), tf.reshard(v, (1, HK, N, D), "smem")
                else:
                    x = tf.reshard(q, (1, H, 2, 8 @ t.g, D), "rmem")
                    y = tf.reshard(k, (1, HK, 4 @ t.t, N // 4, D), "rmem")
                    z = tf.reshard(v, (1, HK, 4 @ t.t, N // 4, D), "rmem")
                o = tf.attention(x, y, z, causal=CAUSAL)
                r = tf.reshard(o, (1, H, 2, 8 @ t.g, 4 @ t.t, D // 4), "rmem") if storage == "smem" else o
                return tf.reshard(r, (1, H, R, D), "gmem")

    return P


def odd_tiles(kind: str) -> Module:
    """Windows that are no tiles of attention."""
    DT, D, N = "f32", 32, (S if kind == "extents" else 32)
    WIDTH = T if kind == "width" else D
    SHAPE = {"batches": (2, 16, D), "extents": (S, D)}.get(kind, (16, D))

    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class P:
        @func
        def f(
            q: Tensor[(2, 4, N, WIDTH), DT], k: Tensor[(2, 4, N, WIDTH), DT], v: Tensor[(2, 4, N, D), DT]
        ) -> Tensor[SHAPE, DT]:
            with Mesh(("thread",), (8, 4), ("g", "t")) as t:
                o = tf.attention(q, k, v)
                if kind == "batches":
                    r = tf.reshard(o[:, 0, 0:16], (2, 2, 8 @ t.g, D), "rmem")
                elif kind == "extents":
                    r = tf.reshard(o[0, 0], (S, 8 @ t.g, 4 @ t.t), "rmem")
                elif kind == "steps":
                    r = tf.reshard(o[0, 0, 0:32:2], (2, 8 @ t.g, D), "rmem")
                else:
                    r = tf.reshard(o[0, 0, 0:16], (2, 8 @ t.g, D), "rmem")
                return tf.reshard(r, SHAPE, "gmem")

    return P
