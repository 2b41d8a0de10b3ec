# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs that place windows of the product of global tensors."""

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
M, N, A, B, C, G = (DimVar(name, 1, 1 << 16) for name in ("M", "N", "A", "B", "C", "G"))
K, L = DimVar("K", 0, 1 << 16), DimVar("L", 0, 1 << 16)


def on_warps(
    dtype: str, out_dtype=None, warps: int = 4, blocks: int = 1, columns: int = 32, turned: str = ""
) -> Module:
    """Tiles as accumulators of tensor cores; `turned` operands are transposes."""
    DT, OUT, W, RB, R, CS = dtype, out_dtype or dtype, warps, blocks, 16 * warps * blocks, columns
    LEFT, RIGHT = ((K, M) if "a" in turned else (M, K)), ((N, K) if "b" in turned else (K, N))

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32 * W)))
    class P:
        @func
        def f(a: Tensor[LEFT, DT], b: Tensor[RIGHT, DT]) -> Tensor[(M, N), OUT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                x = tf.transpose(a, (1, 0)) if "a" in turned else a
                y = tf.transpose(b, (1, 0)) if "b" in turned else b
                c = tf.matmul(x, y) if out_dtype is None else tf.matmul(x, y, out_dtype=OUT)
                out = tf.zeros(Tensor[(M, N), OUT])
                for i in tile(M, R) @ cta.c:
                    for j in tile(N, CS) @ cta.c:
                        r = tf.reshard(c[i, j], (RB, W @ t.w, 2, 8 @ t.g, CS // 8, 4 @ t.t, 2), "rmem")
                        out = tf.insert_slice(out, r, (i, j))
            return out

    return P


def over(dtype: str, kind: str, rows: int, columns: int) -> Module:
    """Tiles that are no accumulators: over lanes, by one thread, or by few of many threads."""
    DT, R, CS = dtype, rows, columns
    MESH = {"lanes": (4, 32), "thread": (1, 1), "half": (4, 32)}[kind]

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", MESH[0] * MESH[1])))
    class P:
        @func
        def f(a: Tensor[(M, K), DT], b: Tensor[(K, N), DT]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), MESH, ("w", "l")) as t:
                c = tf.matmul(a, b)
                out = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, R) @ cta.c:
                    for j in tile(N, CS) @ cta.c:
                        if kind == "lanes":
                            r = tf.reshard(c[i, j], (4 @ t.w, R // 4, 32 @ t.l, CS // 32), "rmem")
                        elif kind == "half":
                            r = tf.reshard(c[i, j], (R, 32 @ t.l, CS // 32), "rmem")
                        else:
                            r = tf.reshard(c[i, j], (1 @ t.w, R, 1 @ t.l, CS), "rmem")
                        out = tf.insert_slice(out, r, (i, j))
            return out

    return P


def batched(left: tuple, right: tuple, dtype: str = "f32") -> Module:
    """Products of rank 5, which lack axes, or have them once, on either side."""
    DT = dtype

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
    class P:
        @func
        def f(a: Tensor[left, DT], b: Tensor[right, DT]) -> Tensor[(A, B, C, M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8, 4), ("g", "t")) as t:
                y = tf.matmul(a, b)
                out = tf.zeros(Tensor[(A, B, C, M, N), DT])
                for x in range(A) @ cta.c:
                    for b_ in range(B) @ cta.c:
                        for c in range(C) @ cta.c:
                            for i in tile(M, 16) @ cta.c:
                                for j in tile(N, 16) @ cta.c:
                                    r = tf.reshard(y[x, b_, c, i, j], (2, 8 @ t.g, 2, 4 @ t.t, 2), "rmem")
                                    out = tf.insert_slice(out, r, (x, b_, c, i, j))
            return out

    return P


def windows_of_batches(left: tuple, right: tuple, dtype: str, split: bool) -> Module:
    """Windows of three matrices at once, which warps share or each thread holds."""
    DT, W, H = dtype, 4, 4 if split else 3

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
    class P:
        @func
        def f(a: Tensor[left, DT], b: Tensor[right, DT]) -> Tensor[(A, M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                y = tf.matmul(a, b)
                out = tf.zeros(Tensor[(A, M, N), DT])
                for x in tile(A, H) @ cta.c:
                    for i in tile(M, 16) @ cta.c:
                        for j in tile(N, 32) @ cta.c:
                            if split:
                                r = tf.reshard(y[x, i, j], (4 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
                            else:
                                r = tf.reshard(y[x, i, j], (3, 2, 8 @ t.g, 4 @ t.w, 4 @ t.t, 2), "rmem")
                            out = tf.insert_slice(out, r, (x, i, j))
            return out

    return P


def few_rows(dtype: str, rows: int, turned: bool) -> Module:
    """A few rows by a matrix: columns over lanes and the reduced axis over the rest, or the other way round."""
    DT, R, RIGHT = dtype, rows, ((N, K) if turned else (K, N))

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
    class P:
        @func
        def f(a: Tensor[(R, K), DT], b: Tensor[RIGHT, DT]) -> Tensor[(R, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
                y = tf.matmul(a, tf.transpose(b, (1, 0))) if turned else tf.matmul(a, b)
                out = tf.zeros(Tensor[(R, N), DT])
                for j in tile(N, 32) @ cta.c:
                    if turned:
                        r = tf.reshard(y[0:R, j], (R, 4 @ t.w, 8), "rmem")
                    else:
                        r = tf.reshard(y[0:R, j], (R, 4 @ t.t, 8), "rmem")
                    out = tf.insert_slice(out, r, (0, j))
            return out

    return P


def chained(dtype: str, side: str) -> Module:
    """A product one of whose operands is a product."""
    DT = dtype

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class P:
        @func
        def f(a: Tensor[(M, K), DT], b: Tensor[(K, L), DT], c: Tensor[(L, N), DT]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 32), ("w", "l")) as t:
                y = tf.matmul(tf.matmul(a, b), c) if side == "left" else tf.matmul(a, tf.matmul(b, c))
                out = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, 16) @ cta.c:
                    for j in tile(N, 32) @ cta.c:
                        out = tf.insert_slice(out, tf.reshard(y[i, j], (2 @ t.w, 8, 32 @ t.l), "rmem"), (i, j))
            return out

    return P


def epilogue(dtype: str, kind: str, cores: bool) -> Module:
    """What elementwise ops make of a product before it is stored."""
    DT, OUT = dtype, ("f32" if kind == "cast" else dtype)

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
    class P:
        @func
        def f(
            a: Tensor[(B, M, K), DT], b: Tensor[(K, N), DT], bias: Tensor[(N,), DT], rest: Tensor[(B, M, N), DT]
        ) -> Tensor[(B, M, N), OUT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
                x = tf.matmul(a, b) + bias
                if kind == "gate":
                    y = x * tf.sigmoid(x) + rest
                elif kind == "cast":
                    y = tf.cast(tf.relu(x), "f32") * 2.0
                else:
                    y = rest - tf.exp(x)
                out = tf.zeros(Tensor[(B, M, N), OUT])
                for n in range(B) @ cta.c:
                    for i in tile(M, 64) @ cta.c:
                        for j in tile(N, 16) @ cta.c:
                            if cores:
                                r = tf.reshard(y[n, i, j], (4 @ t.w, 2, 8 @ t.g, 2, 4 @ t.t, 2), "rmem")
                            else:
                                r = tf.reshard(y[n, i, j], (4 @ t.w, 8 @ t.g, 2, 4 @ t.t, 4), "rmem")
                            out = tf.insert_slice(out, r, (n, i, j))
            return out

    return P


def operands(dtype: str, kind: str, warps: int = 4) -> Module:
    """Operands that are computed, of what is not 0 where elements are 0."""
    DT, W, R = dtype, warps, 16 * warps
    RIGHT = (N, K) if kind == "turned" else (K, N)

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32 * W)))
    class P:
        @func
        def f(a: Tensor[(M, K), "f32"], b: Tensor[RIGHT, "f32"]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (W, 8, 4), ("w", "g", "t")) as t:
                x, y = tf.cast(a, DT), tf.cast(b, DT)
                if kind == "left":
                    c = tf.matmul(tf.exp(x), y)
                elif kind == "right":
                    c = tf.matmul(x, tf.exp(y))
                elif kind == "both":
                    c = tf.matmul(1.0 / tf.exp(x), tf.cos(y) + 1.0)
                else:
                    c = tf.matmul(x, tf.transpose(y, (1, 0)))
                out = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, R) @ cta.c:
                    for j in tile(N, 32) @ cta.c:
                        r = tf.reshard(c[i, j], (W @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
                        out = tf.insert_slice(out, r, (i, j))
            return out

    return P


def staged_by_hand(dtype: str) -> Module:
    """A shared tile of a computed value, zero beyond its extents, which a loop of the program multiplies."""
    DT = dtype

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class P:
        @func
        def f(a: Tensor[(M, K), DT], b: Tensor[(K, N), DT]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 8, 4), ("w", "g", "t")) as t:
                x, y = tf.exp(a), tf.exp(b)
                out = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, 32) @ cta.c:
                    for j in tile(N, 16) @ cta.c:
                        acc = tf.reshard(
                            tf.zeros(Tensor[(32, 16), "f32"]), (2 @ t.w, 2, 8 @ t.g, 2, 4 @ t.t, 2), "rmem"
                        )
                        for k in tile(K, 16):
                            p = tf.matmul(
                                tf.reshard(x[i, k], (32, 16), "smem"),
                                tf.reshard(y[k, j], (16, 16), "smem"),
                                out_dtype="f32",
                            )
                            acc = acc + tf.reshard(p, (2 @ t.w, 2, 8 @ t.g, 2, 4 @ t.t, 2), "rmem")
                        out = tf.insert_slice(out, tf.cast(acc, DT), (i, j))
            return out

    return P


def heads(dtype: str) -> Module:
    """Scores of attention: heads that are parts of rows, in front of the rows, by their transposes."""
    DT, H, D = dtype, 3, 16

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class P:
        @func
        def f(x: Tensor[(B, M, H * D), DT], y: Tensor[(B, N, H * D), DT]) -> Tensor[(B, H, M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 8, 4), ("w", "g", "t")) as t:
                q = tf.transpose(tf.reshape(x, (B, M, H, D)), (0, 2, 1, 3))
                k = tf.transpose(tf.reshape(y, (B, N, H, D)), (0, 2, 1, 3))
                s = tf.matmul(q, tf.transpose(k, (0, 1, 3, 2)))
                out = tf.zeros(Tensor[(B, H, M, N), DT])
                for b in range(B) @ cta.c:
                    for h in range(H) @ cta.c:
                        for i in tile(M, 32) @ cta.c:
                            for j in tile(N, 32) @ cta.c:
                                r = tf.reshard(s[b, h, i, j], (2 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
                                out = tf.insert_slice(out, r, (b, h, i, j))
            return out

    return P
