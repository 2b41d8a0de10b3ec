# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs whose values have no elements, in registers and in shared memory, and what is computed from those."""

from __future__ import annotations

from typing import Any

from tilefoundry import func
from tilefoundry.dsl import Mesh, ReduceKind, Tensor, Topology, tf, tile

THREADS = (Topology("thread", 4),)
LEVELS = (Topology("cta", 2), Topology("thread", 4))
F32 = Tensor[(4, 3), "f32"]
ROW = Tensor[(4,), "f32"]


def _outs(*types: tuple[tuple[int, ...], str]) -> Any:
    return tuple[tuple(Tensor[shape, dtype] for shape, dtype in types)]


def shapes_kept(r: int, c: int) -> Any:
    """What keeps the shape, or only moves axes: nothing is left to compute."""
    outs = _outs(*(((r, c), "f32"),) * 11, ((c, r), "f32"), ((r, c), "f16"), ((1, r, c), "f32"), ((2, r, c), "f32"))

    @func(topologies=THREADS)
    def program(x: Tensor[(r, c), "f32"], w: Tensor[(c,), "f32"]) -> outs:
        with Mesh(("thread",), (4,), ("t",)) as m:
            a = tf.reshard(x, (r @ m.t, c), "rmem")
            v = tf.reshard(w, (c,), "rmem")
            s = tf.reshard(x, (r, c), "smem")
            return (
                tf.reshard(tf.exp(a) + 1.0, (r, c), "gmem"),
                tf.reshard(tf.where(a > 0.0, a, -a), (r, c), "gmem"),
                tf.reshard(tf.softplus(tf.silu(tf.gelu(tf.clamp(a, -1.0, 1.0)))), (r, c), "gmem"),
                tf.reshard(tf.softmax(a, axis=-1), (r, c), "gmem"),
                tf.reshard(tf.rms_norm(a, v), (r, c), "gmem"),
                tf.reshard(tf.layer_norm(a, v, v, axis=-1), (r, c), "gmem"),
                tf.reshard(tf.cumsum(a, axis=1), (r, c), "gmem"),
                tf.reshard(tf.flip(s, axes=(0,)), (r, c), "gmem"),
                tf.reshard(tf.full_like(a, 2.0), (r, c), "gmem"),
                tf.reshard(tf.sort(a, axis=1)[0], (r, c), "gmem"),
                tf.reshard(tf.reshard(s, (r @ m.t, c), "rmem"), (r, c), "gmem"),
                tf.reshard(tf.transpose(s, (1, 0)), (c, r), "gmem"),
                tf.reshard(tf.cast(a, "f16"), (r, c), "gmem"),
                tf.reshard(tf.unsqueeze(a, 0), (1, r, c), "gmem"),
                tf.reshard(tf.stack(a, a, axis=0), (2, r, c), "gmem"),
            )

    return program


@func(topologies=THREADS)
def reductions(
    x: Tensor[(4, 0), "f32"], i: Tensor[(4, 0), "i32"], j: Tensor[(4, 0), "i64"], h: Tensor[(4, 0), "bf16"]
) -> (
    ROW, ROW, Tensor[(4, 1), "f32"], ROW, ROW, ROW, Tensor[(4,), "i32"], Tensor[(4,), "i32"], Tensor[(4,), "i64"],
    Tensor[(4,), "i64"], Tensor[(4,), "bf16"], Tensor[(4,), "bool"], Tensor[(4,), "bool"], Tensor[(), "f32"], ROW, ROW
):  # fmt: skip
    """The identity of each kind."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        a, b = tf.reshard(x, (4 @ m.t, 0), "rmem"), tf.reshard(i, (4 @ m.t, 0), "rmem")
        c, d = tf.reshard(j, (4 @ m.t, 0), "rmem"), tf.reshard(h, (4 @ m.t, 0), "rmem")
        z = tf.reshard(x, (4, 0), "smem")
        s = tf.reshard(x, (4, 0 @ m.t), "rmem")
        return (
            tf.reshard(tf.reduce(a, (1,), False, ReduceKind.SUM), (4,), "gmem"),
            tf.reshard(tf.reduce(a, (1,), False, ReduceKind.MEAN), (4,), "gmem"),
            tf.reshard(tf.reduce(a, (1,), True, ReduceKind.MAX) + 1.0, (4, 1), "gmem"),
            tf.reshard(tf.reduce(a, (1,), False, ReduceKind.MIN), (4,), "gmem"),
            tf.reshard(tf.reduce(a, (1,), False, ReduceKind.PROD), (4,), "gmem"),
            tf.reshard(tf.reduce(a, (1,), False, ReduceKind.ABS_MAX), (4,), "gmem"),
            tf.reshard(tf.reduce(b, (1,), False, ReduceKind.MAX), (4,), "gmem"),
            tf.reshard(tf.reduce(b, (1,), False, ReduceKind.MIN), (4,), "gmem"),
            tf.reshard(tf.reduce(c, (1,), False, ReduceKind.MAX), (4,), "gmem"),
            tf.reshard(tf.reduce(c, (1,), False, ReduceKind.MIN), (4,), "gmem"),
            tf.reshard(tf.reduce(d, (1,), False, ReduceKind.MAX), (4,), "gmem"),
            tf.reshard(tf.reduce(a > 0.0, (1,), False, ReduceKind.ALL), (4,), "gmem"),
            tf.reshard(tf.reduce(a > 0.0, (1,), False, ReduceKind.ANY), (4,), "gmem"),
            tf.reshard(tf.reduce(a, (0, 1), False, ReduceKind.SUM), (), "gmem"),
            tf.reshard(tf.reduce(z, (1,), False, ReduceKind.SUM), (4,), "gmem"),
            tf.reshard(tf.reduce(s, (1,), False, ReduceKind.SUM), (4,), "gmem"),
        )


@func(topologies=THREADS)
def joined(x: F32, e: Tensor[(4, 0), "f32"], i: Tensor[(0,), "i64"]) -> (
    F32, F32, F32, Tensor[(4, 2), "f32"], F32, F32, F32, F32, F32, F32, Tensor[(0, 3), "f32"], F32, F32
):  # fmt: skip
    """Parts and updates that hold nothing."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        a, s = tf.reshard(x, (4 @ m.t, 3), "rmem"), tf.reshard(x, (4, 3), "smem")
        none, nothing = tf.reshard(e, (4 @ m.t, 0), "rmem"), tf.reshard(e, (4, 0), "smem")
        at = tf.reshard(i, (0,), "smem")
        return (
            tf.reshard(tf.concat(none, a, none, axis=1), (4, 3), "gmem"),
            tf.reshard(tf.concat(a[:, 0:0], a[:, 3:3], a, axis=1), (4, 3), "gmem"),
            tf.reshard(tf.concat(s, s[:, 1:1], nothing, axis=1), (4, 3), "gmem"),
            tf.reshard(tf.pad(none, (1, 1), value=2.5), (4, 2), "gmem"),
            tf.concat(e, x, axis=1),
            tf.reshard(tf.insert_slice(s, nothing, (0, 1)), (4, 3), "gmem"),
            tf.reshard(tf.index_add(s, at, s[0:0], dim=0), (4, 3), "gmem"),
            tf.reshard(tf.index_copy(s, at, s[0:0], dim=0), (4, 3), "gmem"),
            tf.index_add(x, i, x[0:0], dim=0),
            tf.reshard(tf.scatter_add(s, tf.reshard(tf.zeros(Tensor[(4, 0), "i64"]), (4, 0), "smem"), nothing, dim=1),
                       (4, 3), "gmem"),
            tf.reshard(tf.index_select(s, at, dim=0), (0, 3), "gmem"),
            tf.reshard(tf.concat(e, x, axis=1), (4 @ m.t, 3), "gmem"),
            tf.reshard(tf.reshard(tf.pad(e, (2, 1), value=1.0), (4 @ m.t, 3), "rmem"), (4, 3), "gmem"),
        )  # fmt: skip


@func(topologies=THREADS)
def products(x: F32, a: Tensor[(4, 0), "f32"], b: Tensor[(0, 3), "f32"]) -> (F32, F32, Tensor[(4, 0), "f32"]):
    """Sums over nothing."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        lhs, rhs = tf.reshard(a, (4, 0), "smem"), tf.reshard(b, (0, 3), "smem")
        acc = tf.reshard(x, (4 @ m.t, 3), "rmem")
        return (
            tf.reshard(tf.reshard(lhs @ rhs, (4 @ m.t, 3), "rmem"), (4, 3), "gmem"),
            tf.reshard(acc + tf.reshard(lhs @ rhs, (4 @ m.t, 3), "rmem"), (4, 3), "gmem"),
            tf.reshard(tf.reshard(tf.reshard(x[:, 0:2], (4, 2), "smem") @ tf.reshard(x[0:2, 0:0], (2, 0), "smem"),
                                  (4 @ m.t, 0), "rmem"), (4, 0), "gmem"),
        )  # fmt: skip


@func(topologies=THREADS)
def choices(x: Tensor[(4, 0), "f32"], y: Tensor[(0, 128), "f32"], z: F32) -> (
    Tensor[(4, 0), "f32"], Tensor[(4, 0), "i64"], Tensor[(0, 128), "fp8e4m3"], Tensor[(0, 1), "f32"],
    Tensor[(4, 0), "f32"], Tensor[(0,), "i64"], Tensor[(2,), "i64"], F32
):  # fmt: skip
    """Ops of several results; and one result that the launch has something to write to."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        a, b = tf.reshard(z, (4 @ m.t, 3), "rmem"), tf.reshard(y, (0 @ m.t, 128), "rmem")
        values, indices = tf.topk(a, 0, axis=-1)
        q, scale = tf.quant(b, group=128)
        first, second = tf.split(tf.reshard(x, (4 @ m.t, 0), "rmem"), axis=1, num_splits=2)
        return (
            tf.reshard(values, (4, 0), "gmem"),
            tf.reshard(indices, (4, 0), "gmem"),
            tf.reshard(q, (0, 128), "gmem"),
            tf.reshard(scale, (0, 1), "gmem"),
            tf.reshard(first + second, (4, 0), "gmem"),
            tf.reshard(tf.argmax(b, axis=-1), (0,), "gmem"),
            tf.reshard(tf.shape_of(x), (2,), "gmem"),
            tf.reshard(a + 1.0, (4, 3), "gmem"),
        )


@func(topologies=THREADS)
def carried(x: F32, e: Tensor[(4, 0), "f32"]) -> (F32, Tensor[(4, 0), "f32"]):
    """Fragments that a loop carries."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        none, acc = tf.reshard(e, (4 @ m.t, 0), "rmem"), tf.reshard(x, (4 @ m.t, 3), "rmem")
        for _ in range(3):
            none = tf.exp(none)
            acc = tf.concat(none, acc + 1.0, axis=1)
        return tf.reshard(acc, (4, 3), "gmem"), tf.reshard(none, (4, 0), "gmem")


@func(topologies=LEVELS)
def filled(x: Tensor[(8, 4), "f32"], e: Tensor[(0, 4), "f32"]) -> (Tensor[(8, 4), "f32"], Tensor[(0, 4), "f32"]):
    """Results that a loop fills, one of them with nothing."""
    out, nothing = tf.zeros(Tensor[(8, 4), "f32"]), tf.zeros(Tensor[(0, 4), "f32"])
    with Mesh(("cta",), (2,), ("c",)) as g, Mesh(("thread",), (4,), ("t",)) as m:
        for i in tile(8, 2) @ g.c:
            a, none = tf.reshard(x[i], (2, 4 @ m.t), "rmem"), tf.reshard(e, (0, 4 @ m.t), "rmem")
            out = tf.insert_slice(tf.insert_slice(out, a * 2.0, (i, 0)), none, (4, 0))
            nothing = tf.insert_slice(nothing, none, (0, 0))
    return out, nothing


@func(topologies=THREADS)
def attention(
    q: Tensor[(1, 1, 4, 8), "f32"], k: Tensor[(1, 1, 0, 8), "f32"], v: Tensor[(1, 1, 0, 8), "f32"]
) -> Tensor[(4, 8), "f32"]:
    """Queries that see no keys."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        return tf.reshard(tf.reshard(tf.attention(q, k, v)[0, 0], (4 @ m.t, 8), "rmem"), (4, 8), "gmem")


@func(topologies=THREADS)
def convolution(
    x: Tensor[(1, 0, 5, 5), "f32"], w: Tensor[(4, 0, 2, 2), "f32"], b: Tensor[(4,), "f32"]
) -> Tensor[(4, 4, 4), "f32"]:
    """An image of no channels: the bias."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        return tf.reshard(tf.reshard(tf.conv2d(x, w, b)[0], (4 @ m.t, 4, 4), "rmem"), (4, 4, 4), "gmem")


@func(topologies=THREADS)
def rotated(
    q: Tensor[(1, 4, 0, 8), "f32"],
    k: Tensor[(1, 4, 2, 8), "f32"],
    cos: Tensor[(9, 8), "f32"],
    sin: Tensor[(9, 8), "f32"],
    at: Tensor[(4,), "i64"],
) -> (Tensor[(4, 0, 8), "f32"], Tensor[(4, 2, 8), "f32"]):
    """Of two results, one is empty."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        a, b = tf.rope(q, k, cos, sin, at)
        c, d = tf.reshard(a[0], (4 @ m.t, 0, 8), "rmem"), tf.reshard(b[0], (4 @ m.t, 2, 8), "rmem")
        return tf.reshard(c, (4, 0, 8), "gmem"), tf.reshard(d, (4, 2, 8), "gmem")


@func(topologies=THREADS)
def beyond(e: Tensor[(0, 3), "f32"], w: F32) -> (F32, Tensor[(4, 3), "f32"]):
    """A tile of something empty, which reads zero beyond the extents."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        acc, s = tf.reshard(w, (4 @ m.t, 3), "rmem"), tf.reshard(e, (0, 3), "smem")
        out = tf.zeros(Tensor[(4, 3), "f32"])
        for j in tile(8, 4):
            acc = acc + tf.reshard(e[j], (4 @ m.t, 3), "rmem")
        for i in tile(4, 4):
            out = tf.insert_slice(out, tf.reshard(s[i], (4 @ m.t, 3), "rmem") + 1.0, (i, 0))
        return tf.reshard(acc, (4, 3), "gmem"), out


@func(topologies=THREADS)
def read_by_number(e: Tensor[(0, 4), "f32"], i: Tensor[(), "i64"]) -> Tensor[(1, 4), "f32"]:
    """Refused."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        s = tf.reshard(e, (0, 4), "smem")
        return tf.reshard(tf.reshard(s[i : i + 1], (1, 4 @ m.t), "rmem"), (1, 4), "gmem")


@func(topologies=THREADS)
def read_by_index(e: Tensor[(4, 0), "f32"], i: Tensor[(2,), "i64"]) -> Tensor[(4, 2), "f32"]:
    """Refused."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        s, at = tf.reshard(e, (4, 0), "smem"), tf.reshard(i, (2,), "smem")
        return tf.reshard(tf.reshard(tf.index_select(s, at, dim=1), (4 @ m.t, 2), "rmem"), (4, 2), "gmem")


def attention_of_tiles(keys: int, width: int) -> Any:
    """Tiles of one head: of no keys, or of a width of 0, which makes all scores alike."""
    shape = (1, 1, keys, width)

    @func(topologies=THREADS)
    def program(
        q: Tensor[(1, 1, 4, width), "f32"], k: Tensor[shape, "f32"], v: Tensor[(1, 1, keys, 8), "f32"]
    ) -> Tensor[(1, 1, 4, 8), "f32"]:
        with Mesh(("thread",), (4,), ("t",)) as m:
            a = tf.reshard(q, (1, 1, 4, width), "smem")
            b, c = tf.reshard(k, (1, 1, keys, width), "smem"), tf.reshard(v, (1, 1, keys, 8), "smem")
            return tf.reshard(
                tf.reshard(tf.attention(a, b, c, scale=0.5), (1, 1, 4 @ m.t, 8), "rmem"), (1, 1, 4, 8), "gmem"
            )

    return program


@func(topologies=THREADS)
def moved(x: F32, e: Tensor[(4, 0), "f32"], cache: Tensor[(1, 4, 1, 3), "f32"], i: Tensor[(4, 0), "i64"]) -> (
    Tensor[(4, 0), "f32"], Tensor[(4, 0, 3), "f32"], Tensor[(4, 0), "f32"], Tensor[(4, 0), "f32"],
    Tensor[(1, 4, 1, 3), "f32"], Tensor[(0,), "i32"], Tensor[(4, 0), "f32"], Tensor[(0,), "i64"],
    Tensor[(4, 0), "bool"], Tensor[(0, 12), "f32"], Tensor[(1, 4, 1, 3), "f32"], Tensor[(4, 0), "f32"],
    Tensor[(4, 0), "i64"], F32
):  # fmt: skip
    """Views, reads by index and updates."""
    with Mesh(("thread",), (4,), ("t",)) as m:
        a, s = tf.reshard(x, (4 @ m.t, 3), "rmem"), tf.reshard(x, (4, 3), "smem")
        none, at = tf.reshard(e, (4 @ m.t, 0), "rmem"), tf.reshard(i, (4, 0), "smem")
        c, new = tf.reshard(cache, (1, 4, 1, 3), "smem"), tf.reshard(cache[:, 0:0], (1, 0, 1, 3), "smem")
        return (
            tf.reshard(tf.squeeze(tf.unsqueeze(none, 0), 0), (4, 0), "gmem"),
            tf.reshard(tf.expand(tf.unsqueeze(none, 2), (4, 0, 3)), (4, 0, 3), "gmem"),
            tf.reshard(tf.repeat_interleave(s, 0, axis=1), (4, 0), "gmem"),
            tf.reshard(tf.gather(s, at, dim=1), (4, 0), "gmem"),
            tf.reshard(tf.cache_update(c, 4, 0, new), (1, 4, 1, 3), "gmem"),
            tf.reshard(tf.arange(Tensor[(0,), "i32"]), (0,), "gmem"),
            tf.reshard(a[:, 0:1] * none, (4, 0), "gmem"),
            tf.reshard(tf.argmin(tf.reshard(x[0:0], (0 @ m.t, 3), "rmem"), axis=1), (0,), "gmem"),
            tf.reshard(tf.logical_not(none > 0.0), (4, 0), "gmem"),
            tf.reshard(tf.reshape(e, (0, 12)), (0, 12), "gmem"),
            tf.cache_update(cache, 4, 0, cache[:, 0:0]),
            tf.reshard(tf.relu(tf.sigmoid(tf.tanh(none))), (4, 0), "gmem"),
            i,
            x,
        )
