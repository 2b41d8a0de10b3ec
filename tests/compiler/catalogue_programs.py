# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Every op of the catalogue that takes whole tensors, by its surface name, in programs without meshes and storage."""

from __future__ import annotations

from tilefoundry import DimVar, func
from tilefoundry.dsl import BinaryKind, ReduceKind, Tensor, UnaryKind, tf
from tilefoundry.ir.core.function import Function

M = DimVar("M", 0, 1 << 20)

# The program, and the shape and dtype of each argument at M = 5.
Case = tuple[Function, tuple[tuple[tuple[int, ...], str], ...]]


def cases(dt: str) -> dict[str, Case]:
    """The programs, for elements of a float dtype."""
    X = Tensor[(M, 37), dt]
    FLAGS = Tensor[(M, 37), "bool"]
    COUNTS = Tensor[(M, 37), "i32"]

    @func
    def arithmetic(x: X, y: X) -> tuple[X, X, X, X, X, X, X, X, X, X, X]:
        return (
            tf.add(x, y),
            tf.sub(x, y),
            tf.mul(x, y),
            tf.div(y, x),
            tf.pow(x, y),
            tf.min(x, y),
            tf.max(x, y),
            tf.minimum(x, y),
            tf.maximum(x, y),
            tf.binary(x, y, kind=BinaryKind.SUB),
            tf.unary(x, kind=UnaryKind.EXP),
        )

    @func
    def comparisons(x: X, y: X) -> tuple[FLAGS, FLAGS, FLAGS, FLAGS, FLAGS, FLAGS, FLAGS, FLAGS]:
        return (
            tf.cmp_eq(x, y),
            tf.cmp_ne(x, y),
            tf.cmp_lt(x, y),
            tf.cmp_le(x, y),
            tf.cmp_gt(x, y),
            tf.cmp_ge(x, y),
            tf.isnan(x),
            tf.isinf(y),
        )

    @func
    def logic(b: FLAGS, c: FLAGS, x: X, y: X) -> tuple[FLAGS, FLAGS, FLAGS, X]:
        return tf.logical_and(b, c), tf.logical_or(b, c), tf.logical_not(b), tf.where(b, x, y)

    @func
    def integers(n: COUNTS, k: COUNTS) -> tuple[COUNTS, COUNTS, X]:
        return tf.floor_div(n, k), tf.mod(n, k), tf.cast(n, dt)

    @func
    def functions(x: X, y: X) -> tuple[X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X]:
        return (
            tf.neg(y),
            tf.abs(y),
            tf.rsqrt(x),
            tf.exp(y),
            tf.log(x),
            tf.square(y),
            tf.ceil(y),
            tf.round(y),
            tf.exp2(y),
            tf.log2(x),
            tf.sqrt(x),
            tf.sin(y),
            tf.cos(y),
            tf.erf(y),
            tf.floor(y),
            tf.log1p(x),
            tf.clamp(y, min_val=-0.5, max_val=0.5),
        )

    @func
    def activations(x: X, y: X, w: Tensor[(37,), dt], v: Tensor[(37,), dt]) -> tuple[X, X, X, X, X, X, X, X, X]:
        return (
            tf.softplus(y),
            tf.relu(y),
            tf.sigmoid(y),
            tf.tanh(y),
            tf.silu(y),
            tf.gelu(y),
            tf.softmax(y, axis=-1),
            tf.rms_norm(x, w),
            tf.layer_norm(x, w, v),
        )

    @func
    def reductions(x: X) -> tuple[Tensor[(M, 1), dt], Tensor[(M,), "i64"], Tensor[(M,), "i64"], X]:
        return tf.reduce(x, (1,), True, ReduceKind.SUM), tf.argmax(x), tf.argmin(x), tf.cumsum(x, axis=0)

    @func
    def greatest(x: X) -> tuple[Tensor[(M, 3), dt], Tensor[(M, 3), "i64"]]:
        return tf.topk(x, 3)

    @func
    def ordered(x: X) -> tuple[X, Tensor[(M, 37), "i64"]]:
        return tf.sort(x)

    @func
    def groups(x: Tensor[(M, 64), dt]) -> tuple[Tensor[(M, 64), "fp8e4m3"], Tensor[(M, 2), "f32"]]:
        return tf.quant(x, group=32)

    @func
    def rotated(
        q: Tensor[(2, M, 4, 16), dt],
        k: Tensor[(2, M, 2, 16), dt],
        cos: Tensor[(9, 16), dt],
        sin: Tensor[(9, 16), dt],
        at: Tensor[(M,), "i64"],
    ) -> tuple[Tensor[(2, M, 4, 16), dt], Tensor[(2, M, 2, 16), dt]]:
        return tf.rope(q, k, cos, sin, at)

    @func
    def products(
        x: X, w: Tensor[(37, 9), dt], image: Tensor[(1, 3, 8, 8), dt], kernel: Tensor[(4, 3, 3, 3), dt],
        q: Tensor[(2, 4, M, 16), dt], k: Tensor[(2, 2, 7, 16), dt],
    ) -> tuple[Tensor[(M, 9), dt], Tensor[(1, 4, 8, 8), dt], Tensor[(2, 4, M, 16), dt]]:  # fmt: skip
        return tf.matmul(x, w), tf.conv2d(image, kernel, padding=1), tf.attention(q, k, k)

    @func
    def shapes(
        x: Tensor[(M, 6), dt], y: Tensor[(M, 6), dt], z: Tensor[(1, M, 1), dt]
    ) -> tuple[
        Tensor[(M, 2, 3), dt],
        Tensor[(6, M), dt],
        Tensor[(M, 2), dt],
        Tensor[(M + M, 6), dt],
        Tensor[(M, 2, 6), dt],
        Tensor[(M * 3, 6), dt],
        Tensor[(M, 9), dt],
        Tensor[(M, 6), dt],
        Tensor[(M, 1), dt],
        Tensor[(M, 1, 6), dt],
        Tensor[(3, M, 5), dt],
        Tensor[(M, 3), dt],
    ]:
        return (
            tf.reshape(x, (M, 2, 3)),
            tf.transpose(x, perm=(1, 0)),
            x[:, 1:5:2],
            tf.concat(x, y, axis=0),
            tf.stack(x, y, axis=1),
            tf.repeat_interleave(x, 3, 0),
            tf.pad(x, (1, 2)),
            tf.flip(x, 1),
            tf.squeeze(z, 0),
            tf.unsqueeze(x, 1),
            tf.expand(z, (3, M, 5)),
            tf.split(x, axis=1, num_splits=2)[1],
        )

    @func
    def halves(x: Tensor[(M, 6), dt]) -> tuple[Tensor[(M, 3), dt], Tensor[(M, 3), dt]]:
        return tf.split(x, axis=1, num_splits=2)

    @func
    def indices(
        x: X, row: Tensor[(1,), "i64"], rows: Tensor[(1, 37), dt], each: Tensor[(M, 4), "i64"], new: Tensor[(M, 4), dt],
        cache: Tensor[(2, 16, 3, 4), dt], given: Tensor[(2, 2, 3, 4), dt], at: Tensor[(), "i32"],
    ) -> tuple[Tensor[(1, 37), dt], Tensor[(M, 4), dt], X, X, X, X, Tensor[(2, 16, 3, 4), dt]]:  # fmt: skip
        return (
            tf.index_select(x, row, 0),
            tf.gather(x, each, dim=1),
            tf.index_add(x, row, rows, dim=0),
            tf.index_copy(x, row, rows, dim=0),
            tf.scatter_add(x, each, new, dim=1),
            tf.insert_slice(x, new, (0, 3)),
            tf.cache_update(cache, at, 2, given),
        )

    @func
    def made(
        x: X,
    ) -> tuple[
        X, X, Tensor[(7,), "i32"], Tensor[(M,), "i64"], Tensor[(), "i64"], Tensor[(2,), "i64"], Tensor[(2,), "i64"]
    ]:
        return (
            tf.full_like(x, 2.0),
            tf.zeros(Tensor[(M, 37), dt]),
            tf.arange(Tensor[(7,), "i32"], start=2),
            tf.arange(Tensor[(M,), "i64"]) * 2,
            tf.rank(x),
            tf.shape_of(x),
            tf.shape_of(x) * tf.rank(x) + 1,
        )

    @func
    def extents(x: X) -> Tensor[(2,), "i64"]:
        return tf.shape_of(x)

    x, row, flags, counts = ((5, 37), dt), ((37,), dt), ((5, 37), "bool"), ((5, 37), "i32")
    cache = (((2, 16, 3, 4), dt), ((2, 2, 3, 4), dt), ((), "i32"))
    return {
        "arithmetic": (arithmetic, (x, x)),
        "comparisons": (comparisons, (x, x)),
        "logic": (logic, (flags, flags, x, x)),
        "integers": (integers, (counts, counts)),
        "functions": (functions, (x, x)),
        "activations": (activations, (x, x, row, row)),
        "reductions": (reductions, (x,)),
        "greatest": (greatest, (x,)),
        "ordered": (ordered, (x,)),
        "groups": (groups, (((5, 64), dt),)),
        "rotated": (
            rotated,
            (((2, 5, 4, 16), dt), ((2, 5, 2, 16), dt), ((9, 16), dt), ((9, 16), dt), ((5,), "i64")),
        ),
        "products": (
            products,
            (x, ((37, 9), dt), ((1, 3, 8, 8), dt), ((4, 3, 3, 3), dt), ((2, 4, 5, 16), dt), ((2, 2, 7, 16), dt)),
        ),
        "shapes": (shapes, (((5, 6), dt), ((5, 6), dt), ((1, 5, 1), dt))),
        "halves": (halves, (((5, 6), dt),)),
        "indices": (indices, (x, ((1,), "i64"), ((1, 37), dt), ((5, 4), "i64"), ((5, 4), dt), *cache)),
        "made": (made, (x,)),
        "extents": (extents, (x,)),
    }
