# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs without a mesh and without storage, over symbolic and odd extents."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry import DimVar, DimVarRangePat, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile

R, K = DimVar("R", 1, 100), DimVar("K", 1, 100)
M, N = DimVar("M", 0, 1 << 20), DimVar("N", 0, 1 << 20)

# Name of the program: the program, and the shape of each argument at M = 5 and N = 77.
Case = tuple[Callable[..., object], tuple[tuple[int, ...], ...]]


@func
def long_rows(x: Tensor[(M, 20000), "f32"]) -> Tensor[(M, 4), "f32"]:
    """More than a CTA puts in order."""
    return tf.topk(x, 4)[0]


@func
def unknown_times(x: Tensor[(M, 16), "f32"]) -> Tensor[(M, 16), "f32"]:
    """A loop that runs as often as the argument has rows."""
    for _i in range(M):
        x = x * 2.0
    return x


@func
def many_times(x: Tensor[(M, 16), "f32"]) -> Tensor[(M, 16), "f32"]:
    """A loop of more iterations than kernels are made for."""
    for _i in range(5000):
        x = x * 2.0
    return x


@module(entry="run")
class Ranges:
    """A function whose calls are decided by the extent of an argument, which has more than one range."""

    @func
    def scaled(x: Tensor[(K, 16), "f32"]) -> Tensor[(K, 16), "f32"]:
        pass

    @scaled.specialize(DimVarRangePat("K", 1, 4))
    def few(x: Tensor[(K, 16), "f32"]) -> Tensor[(K, 16), "f32"]:
        return x * 2.0

    @scaled.specialize(DimVarRangePat("K", 4, 100))
    def many(x: Tensor[(K, 16), "f32"]) -> Tensor[(K, 16), "f32"]:
        return x * 3.0

    @func
    def run(x: Tensor[(R, 16), "f32"]) -> Tensor[(R, 16), "f32"]:
        return scaled(x + 1.0) - x


def elementwise(dt: str) -> dict[str, Case]:
    """Chains of them, with operands that are broadcast."""

    @func
    def chain(x: Tensor[(M, N), dt], y: Tensor[(M, N), dt]) -> Tensor[(M, N), dt]:
        return tf.where(x < y, tf.exp(tf.minimum(x, y)), x * y - 1.5)

    @func
    def rows_and_columns(
        x: Tensor[(3, M, N), dt], row: Tensor[(N,), dt], column: Tensor[(M, 1), dt], one: Tensor[(), dt]
    ) -> Tensor[(3, M, N), dt]:
        return tf.silu(x + row) * column + one

    @func
    def outer(row: Tensor[(1, N), dt], column: Tensor[(M, 1), dt]) -> Tensor[(M, N), dt]:
        return row * column

    @func
    def activations(x: Tensor[(N,), dt]) -> Tensor[(N,), dt]:
        return tf.gelu(tf.softplus(tf.clamp(x, min_val=-2.0, max_val=2.0))) + tf.sigmoid(x) + tf.tanh(tf.relu(x))

    @func
    def casts(x: Tensor[(M, 3, 7), dt]) -> Tensor[(M, 3, 7), "i32"]:
        return tf.cast(tf.round(x * 8.0), "i32") // 3 + tf.full_like(tf.cast(x, "i32"), 2)

    @func
    def two(x: Tensor[(M, N), dt]) -> tuple[Tensor[(M, N), dt], Tensor[(M, N), "bool"]]:
        y = tf.abs(x)
        return y + y, y > 0.5

    x, y = (5, 77), (5, 77)
    return {
        "chain": (chain, (x, y)),
        "rows_and_columns": (rows_and_columns, ((3, 5, 77), (77,), (5, 1), ())),
        "outer": (outer, ((1, 77), (5, 1))),
        "activations": (activations, ((77,),)),
        "casts": (casts, ((5, 3, 7),)),
        "two": (two, (x,)),
    }


def rows(dt: str) -> dict[str, Case]:
    """Reductions, norms and searches, of extents that a CTA holds and of others."""

    @func
    def softmax(x: Tensor[(M, 77), dt]) -> Tensor[(M, 77), dt]:
        return tf.softmax(x, axis=-1)

    @func
    def softmax_of_columns(x: Tensor[(M, 77), dt]) -> Tensor[(M, 77), dt]:
        return tf.softmax(x, axis=0)

    @func
    def softmax_symbolic(x: Tensor[(M, N), dt]) -> Tensor[(M, N), dt]:
        return tf.softmax(x * 2.0, axis=-1)

    @func
    def rms_norm(x: Tensor[(M, 77), dt], w: Tensor[(77,), dt]) -> Tensor[(M, 77), dt]:
        return tf.rms_norm(x, w) + x

    @func
    def layer_norm(x: Tensor[(M, 7, 11), dt], w: Tensor[(7, 11), dt], b: Tensor[(7, 11), dt]) -> Tensor[(M, 7, 11), dt]:
        return tf.layer_norm(x, w, b, axis=1)

    @func
    def by_hand(x: Tensor[(M, 77), dt]) -> Tensor[(M, 77), dt]:
        centred = x - tf.reduce(x, (-1,), True, ReduceKind.MEAN)
        return centred * tf.rsqrt(tf.reduce(centred * centred, (-1,), True, ReduceKind.MEAN) + 1e-5)

    @func
    def sums(
        x: Tensor[(M, 3, N), dt],
    ) -> tuple[Tensor[(M, 3), dt], Tensor[(M, 1, N), dt], Tensor[(3, N), dt], Tensor[(1, 1, 1), dt], Tensor[(), dt]]:
        return (
            tf.reduce(x, (-1,), False, ReduceKind.SUM),
            tf.reduce(x, (1,), True, ReduceKind.MAX),
            tf.reduce(x, (0,), False, ReduceKind.MEAN),
            tf.reduce(x, (0, 1, 2), True, ReduceKind.ABS_MAX),
            tf.reduce(x, (0, 1, 2), False, ReduceKind.MIN),
        )

    @func
    def numbers(
        x: Tensor[(M, N), dt],
    ) -> tuple[
        Tensor[(M, N), dt],
        Tensor[(), dt],
        Tensor[(), "i64"],
        Tensor[(1, 1), dt],
        Tensor[(1,), dt],
        Tensor[(1, 1), dt],
        Tensor[(2,), dt],
    ]:
        y = x * 2.0
        norm = tf.sqrt(tf.reduce(x * x, (0, 1), False, ReduceKind.SUM))
        return (
            x / norm + tf.reduce(y, (0, 1), False, ReduceKind.MAX),
            y[-1, 0],
            tf.argmax(y[0], axis=0),
            tf.reshape(x[2, 3], (1, 1)),
            tf.unsqueeze(norm * 2.0, 0),
            tf.flip(tf.transpose(tf.reshape(norm + 1.0, (1, 1)), (1, 0)), (0,)),
            tf.index_select(tf.reshape(norm, (1,)), tf.zeros(Tensor[(2,), "i64"]), dim=0),
        )

    @func
    def searches(x: Tensor[(M, 77), dt]) -> tuple[Tensor[(M,), "i64"], Tensor[(77,), "i64"], Tensor[(M, 77), dt]]:
        return tf.argmax(x, axis=-1), tf.argmin(x, axis=0), tf.cumsum(x, axis=-1)

    @func
    def order(
        x: Tensor[(M, 77), dt],
    ) -> tuple[
        Tensor[(M, 5), dt], Tensor[(M, 5), "i64"], Tensor[(M, 77), dt], Tensor[(M, 1), dt], Tensor[(M, 1), "i64"]
    ]:
        values, indices = tf.topk(x, k=5, axis=-1, largest=True, sorted=True)
        least, _ = tf.sort(x, axis=-1)
        greatest, place = tf.topk(tf.concat(x, -x, x, axis=1), 1)  # more than one thread holds
        return values, indices, least, greatest, place

    x = (5, 77)
    return {
        "softmax": (softmax, (x,)),
        "softmax_of_columns": (softmax_of_columns, (x,)),
        "softmax_symbolic": (softmax_symbolic, (x,)),
        "rms_norm": (rms_norm, (x, (77,))),
        "layer_norm": (layer_norm, ((5, 7, 11), (7, 11), (7, 11))),
        "by_hand": (by_hand, (x,)),
        "sums": (sums, ((5, 3, 77),)),
        "numbers": (numbers, (x,)),
        "searches": (searches, (x,)),
        "order": (order, (x,)),
    }


def products(dt: str) -> dict[str, Case]:
    """Products, with what comes before and after them."""

    @func
    def linear(x: Tensor[(M, N), dt], w: Tensor[(N, 50), dt], b: Tensor[(50,), dt]) -> Tensor[(M, 50), dt]:
        return tf.relu(x @ w + b)

    @func
    def gated(x: Tensor[(M, 40), dt], w: Tensor[(40, 50), dt], v: Tensor[(40, 50), dt]) -> Tensor[(M, 50), dt]:
        return tf.silu(x @ w) * (x @ v)

    @func
    def two_layers(x: Tensor[(M, 40), dt], w: Tensor[(40, 50), dt], v: Tensor[(50, 9), dt]) -> Tensor[(M, 9), dt]:
        return tf.softmax(tf.gelu(x @ w) @ v, axis=-1)

    @func
    def batched(x: Tensor[(3, M, N), dt], y: Tensor[(2, 1, 33, N), dt]) -> Tensor[(2, 3, M, 33), dt]:
        return x @ tf.transpose(y, perm=(0, 1, 3, 2))

    @func
    def heads(x: Tensor[(M, 48), dt], w: Tensor[(48, 96), dt]) -> Tensor[(1, 4, M, 24), dt]:
        return tf.transpose(tf.reshape(x @ w, (1, M, 4, 24)), perm=(0, 2, 1, 3))

    @func
    def attention(
        q: Tensor[(2, 4, M, 32), dt], k: Tensor[(2, 2, N, 32), dt], v: Tensor[(2, 2, N, 32), dt]
    ) -> Tensor[(2, 4, M, 32), dt]:
        return tf.attention(q, k, v, causal=True)

    @func
    def convolution(
        x: Tensor[(2, 3, 9, 11), dt], w: Tensor[(5, 3, 3, 3), dt], b: Tensor[(5,), dt]
    ) -> Tensor[(2, 5, 9, 11), dt]:
        return tf.relu(tf.conv2d(x, w, b, stride=(1, 1), padding=(1, 1)))

    @func
    def groups(
        x: Tensor[(2, 6, 9, 11), dt], w: Tensor[(4, 3, 3, 3), dt], b: Tensor[(4,), dt]
    ) -> Tensor[(2, 4, 9, 11), dt]:
        return tf.conv2d(x, w, b, stride=(1, 1), padding=(1, 1), groups=2)

    return {
        "linear": (linear, ((5, 77), (77, 50), (50,))),
        "gated": (gated, ((5, 40), (40, 50), (40, 50))),
        "two_layers": (two_layers, ((5, 40), (40, 50), (50, 9))),
        "batched": (batched, ((3, 5, 77), (2, 1, 33, 77))),
        "heads": (heads, ((5, 48), (48, 96))),
        "attention": (attention, ((2, 4, 5, 32), (2, 2, 77, 32), (2, 2, 77, 32))),
        "convolution": (convolution, ((2, 3, 9, 11), (5, 3, 3, 3), (5,))),
        "groups": (groups, ((2, 6, 9, 11), (4, 3, 3, 3), (4,))),
    }


def moved(dt: str) -> dict[str, Case]:
    """Shapes and indices."""

    @func
    def shapes(
        x: Tensor[(M, 6), dt],
    ) -> tuple[Tensor[(6, M), dt], Tensor[(M, 12), dt], Tensor[(M, 3), dt], Tensor[(2, M, 6), dt], Tensor[(M, 18), dt]]:
        y = x + 1.0
        left, _ = tf.split(y, axis=1, num_splits=2)
        return (
            tf.transpose(y, perm=(1, 0)),
            tf.concat(x, y, axis=1),
            left * 2.0,
            tf.stack(y, x, axis=0),
            tf.repeat_interleave(tf.flip(y, axes=(0,)), 3, 1),
        )

    @func
    def windows(
        x: Tensor[(9, N), dt], u: Tensor[(2, N), dt]
    ) -> tuple[Tensor[(4, N), dt], Tensor[(9, N), dt], Tensor[(11, N), dt], Tensor[(N, 3), dt]]:
        y = x * 2.0
        wide = tf.pad(y, pad=(0, 0, 1, 1), value=-1.0)
        return y[1:8:2] + 1.0, tf.insert_slice(y, u, (3, 0)), wide, tf.transpose(x - 1.0, perm=(1, 0))[:, 0:9:4]

    @func
    def reshaped(x: Tensor[(M, 6), dt]) -> Tensor[(M, 2, 3), dt]:
        return tf.reshape(tf.exp(x), (M, 2, 3)) * tf.reshape(x, (M, 2, 3))

    @func
    def merged(
        x: Tensor[(2, 6, 5, 7), dt], y: Tensor[(M, 4, 6), dt]
    ) -> tuple[Tensor[(2, 3, 70), dt], Tensor[(M, 24), dt]]:
        grouped = tf.reshape(x, (2, 3, 70))
        heads = tf.reshape(tf.stack(-y[:, :, 1:6:2], y[:, :, 0:6:2], axis=-1), (M, 24))
        return grouped - tf.reduce(grouped, (-1,), True, ReduceKind.MEAN), heads

    @func
    def given(x: Tensor[(M, 6), dt]) -> tuple[Tensor[(M, 6), dt], Tensor[(M, 6), dt], Tensor[(M, 6), dt]]:
        y = x * 2.0
        return x, y, y

    return {
        "shapes": (shapes, ((5, 6),)),
        "windows": (windows, ((9, 77), (2, 77))),
        "reshaped": (reshaped, ((5, 6),)),
        "merged": (merged, ((2, 6, 5, 7), (5, 4, 6))),
        "given": (given, ((5, 6),)),
    }


def loops(dt: str) -> dict[str, Case]:
    """Loops over layers, in each other, and over tiles; numbers that they carry."""

    @func
    def layers(x: Tensor[(M, 16), dt], w: Tensor[(3, 16, 16), dt], g: Tensor[(3, 16), dt]) -> Tensor[(M, 16), dt]:
        for i in range(3):
            h = tf.rms_norm(x, g[i])
            x = x + tf.gelu(h @ w[i]) * 0.25
        return x

    @func
    def nested(
        x: Tensor[(M, 16), dt], w: Tensor[(10, 16), dt]
    ) -> tuple[Tensor[(M, 16), dt], Tensor[(), dt], Tensor[(), dt], Tensor[(10, 16), dt]]:
        y, n = x, tf.reduce(x, (0, 1), False)
        for i in range(1, 6, 2):
            z = x
            for j in range(2):
                z = z * tf.cast(tf.cast(i + j, "f32") * 0.125, dt) + y
            y, n = z - x, n * 0.5
        out = tf.zeros(Tensor[(10, 16), dt])
        for k in tile(10, 4):
            out = tf.insert_slice(out, tf.softmax(w[k, :], axis=-1), (k, 0))
        return y * n, n, n, out

    return {
        "layers": (layers, ((5, 16), (3, 16, 16), (3, 16))),
        "nested": (nested, ((5, 16), (10, 16))),
    }
