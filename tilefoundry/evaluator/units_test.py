"""Programs that ask what each unit holds, against numpy models that compute unit by unit."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tilefoundry.dsl import Layout, Mesh, P, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.evaluator import evaluate
from tilefoundry.python import func

CTA, THREAD = Topology("cta", 3), Topology("thread", 8)
Model = Callable[..., np.ndarray]
PROGRAMS: dict[str, tuple[object, Model, tuple[tuple[int, ...], ...]]] = {}


def program(model: Model, *shapes: tuple[int, ...]) -> Callable[[object], object]:
    """Registers a program with its model, and the shapes of the inputs (f32)."""

    def register(function: object) -> object:
        PROGRAMS[model.__name__] = (function, model, shapes)
        return function

    return register


def add_the_owner(x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for w in range(4):
        for row in (2 * w, 2 * w + 1):
            out[row] = x[row] + w
    return out


@program(add_the_owner, (8, 6))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"]) -> Tensor[(8, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (8 @ m.w, 6), "rmem")
        return tf.reshard(r + tf.cast(m.w, "f32"), (8, 6 @ m.l), "gmem")


def each_owner_its_own_rule(x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for c in range(3):
        for w in range(4):
            for lane in range(2):
                for row in (2 * c, 2 * c + 1):
                    for col in (2 * w, 2 * w + 1):
                        if col % 2 == lane:
                            v = x[row, col]
                            out[row, col] = v * 10 if (w + c) % 2 else -v - lane
    return out


@program(each_owner_its_own_rule, (6, 8))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(6, 8), "f32"]) -> Tensor[(6, 8), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (6 @ c.c, 4 @ m.w, 2 @ m.l), "rmem")
        odd = (m.w + c.c) % 2 == 1
        y = tf.where(odd, r * 10.0, -r - tf.cast(m.l, "f32"))
        return tf.reshard(y, (6, 8 @ m.l), "gmem")


def owners_after_a_reshard(x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for w in range(4):
        for row in (2 * w, 2 * w + 1):
            out[row] = x[row] * (w + 1)
    for w in range(4):
        for col in (2 * w, 2 * w + 1):
            out[:, col] += 100 * w
    return out


@program(owners_after_a_reshard, (8, 8))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        rows = tf.reshard(x, (8 @ m.w, 8), "rmem") * tf.cast(m.w + 1, "f32")
        columns = tf.reshard(rows, (8, 8 @ m.w), "rmem") + tf.cast(m.w * 100, "f32")
        return tf.reshard(columns, (8, 8), "gmem")


def split_k(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros((6, 4))
    for c in range(3):
        for w in range(4):
            for i in (2 * c, 2 * c + 1):
                part = sum(a[i, k] * b[k] for k in (4 * w, 4 * w + 1, 4 * w + 2, 4 * w + 3))
                out[i] += part * (1 + w) + part * c
    return out


@program(split_k, (6, 16), (16, 4))
@func(topologies=(CTA, THREAD))
def _(a: Tensor[(6, 16), "f32"], b: Tensor[(16, 4), "f32"]) -> Tensor[(6, 4), "f32"]:
    with Mesh(("cta", "thread"), (3, 4, 2), ("c", "w", "l")) as m:
        left = tf.reshard(a, (6 @ m.c, 16 @ m.w), "rmem")
        right = tf.reshard(b, (16 @ m.w, 4), "rmem")
        terms = left @ right  # each unit its own term
        weighted = terms * tf.cast(m.w + 1, "f32")
        total = weighted + terms * tf.cast(m.c, "f32")
        return tf.reshard(total, (6 @ m.c, 4), "gmem")


def product_rows_and_factor_of_the_owner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros((8, 3))
    for w in range(4):
        for i in (2 * w, 2 * w + 1):
            out[i] = a[i] @ (b * (w + 1)) if w != 2 else a[i] @ (b * 0)
    return out


@program(product_rows_and_factor_of_the_owner, (8, 5), (5, 3))
@func(topologies=(CTA, THREAD))
def _(a: Tensor[(8, 5), "f32"], b: Tensor[(5, 3), "f32"]) -> Tensor[(8, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        left = tf.reshard(a, (8 @ m.w, 5), "rmem")
        right = tf.reshard(b, (5, 3), "rmem")
        mine = tf.where(m.w == 2, 0.0, right * tf.cast(m.w + 1, "f32"))
        return tf.reshard(left @ mine, (8, 3), "gmem")


def own_parts_in_own_windows(x: np.ndarray) -> np.ndarray:
    out = np.zeros((8, 6))
    for w in range(4):
        part = x[2 * w : 2 * w + 2]
        out[2 * w : 2 * w + 2] = part - part.max()
    return out


@program(own_parts_in_own_windows, (8, 6))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"]) -> Tensor[(8, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        part = tf.local(tf.reshard(x, (8 @ m.w, 6), "rmem"))
        part = part - tf.reduce(part, (0, 1), True, ReduceKind.MAX)
        return tf.insert_slice(tf.zeros(Tensor[(8, 6), "f32"]), part, (m.w * 2, 0))


def local_terms(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 2, 2))
    for w in range(4):
        out[w] = a[:, 3 * w : 3 * w + 3] @ b[3 * w : 3 * w + 3]
    return out


@program(local_terms, (2, 12), (12, 2))
@func(topologies=(CTA, THREAD))
def _(a: Tensor[(2, 12), "f32"], b: Tensor[(12, 2), "f32"]) -> Tensor[(4, 2, 2), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        terms = tf.reshard(a, (2, 12 @ m.w), "rmem") @ tf.reshard(b, (12 @ m.w, 2), "rmem")
        return tf.insert_slice(tf.zeros(Tensor[(4, 2, 2), "f32"]), tf.local(terms), (m.w, 0, 0))


def each_its_own_rows(x: np.ndarray) -> np.ndarray:
    out = np.zeros((6, 5))
    for c in range(3):
        for t in range(8):
            row = x[(c * 2 + t // 4 * 3) % 6]
            if t == 4 * (c % 2):
                out[2 * c] = row
            if t == 4 * (1 - c % 2):
                out[2 * c + 1] = row * 2
    return out


@program(each_its_own_rows, (6, 5))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(6, 5), "f32"]) -> Tensor[(6, 5), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (2, 4), ("h", "l")) as m:
        row = x[(c.c * 2 + m.h * 3) % 6, :]
        other = (m.h + c.c) % 2  # 0 for the half whose row comes first
        scaled = row * tf.cast(other + 1, "f32")
        return tf.insert_slice(tf.zeros(Tensor[(6, 5), "f32"]), scaled, (c.c * 2 + other, 0))


def loops_with_bounds_of_their_own(x: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 6))
    for w in range(4):
        total = np.zeros(6)
        for i in range(w, 2 * w + 1, 2):
            total = total + x[i] * (i + 1)
        out[w] = total
    return out


@program(loops_with_bounds_of_their_own, (8, 6))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        total = tf.reshard(tf.zeros(Tensor[(6,), "f32"]), (6,), "rmem")
        for i in range(m.w, m.w * 2 + 1, 2):
            total = total + tf.reshard(x[i, :], (6,), "rmem") * tf.cast(i + 1, "f32")
        return tf.insert_slice(tf.zeros(Tensor[(4, 6), "f32"]), total, (m.w, 0))


def spread_tiles(x: np.ndarray) -> np.ndarray:
    out = np.zeros((10, 2))
    for n in range(5):
        c = n % 3  # five tiles on three CTAs
        for row in (2 * n, 2 * n + 1):
            for t in range(8):
                out[row, 0] += x[row, t] * (t + 1)
            out[row, 1] = c
    return out


@program(spread_tiles, (10, 8))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(10, 8), "f32"]) -> Tensor[(10, 2), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (8,), ("t",)) as m:
        out = tf.zeros(Tensor[(10, 2), "f32"])
        for i in tile(10, 2) @ c.c:
            r = tf.reshard(x[i], (2, 8 @ m.t), "rmem") * tf.cast(m.t + 1, "f32")
            total = tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.SUM), (2, 1), "gmem")
            out = tf.insert_slice(out, total, (i, 0))
            out = tf.insert_slice(out, tf.full_like(total, 0.0) + tf.cast(c.c, "f32"), (i, 1))
        return out


def tail_of_spread_tiles(x: np.ndarray) -> np.ndarray:
    out = np.zeros((11, 7))
    for i in range(0, 11, 4):
        for j in range(0, 7, 2):
            n = i // 4 * 4 + j // 2
            for row in range(i, min(i + 4, 11)):
                for col in range(j, min(j + 2, 7)):
                    out[row, col] = x[row, col] * 10 + n % 3
    return out


@program(tail_of_spread_tiles, (11, 7))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(11, 7), "f32"]) -> Tensor[(11, 7), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c:
        out = tf.zeros(Tensor[(11, 7), "f32"])
        for i in tile(11, 4) @ c.c:
            for j in tile(7, 2) @ c.c:
                out = tf.insert_slice(out, x[i, j] * 10.0 + tf.cast(c.c, "f32"), (i, j))
        return out


def a_tile_of_each_cta(x: np.ndarray) -> np.ndarray:
    out = np.zeros((12, 4))
    for c in range(3):
        tile_ = x[4 * c : 4 * c + 4] + c
        for t in range(4):
            out[4 * c + t] = tile_[t] / tile_.sum() * (t + 1)
    return out


@program(a_tile_of_each_cta, (12, 4))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(12, 4), "f32"]) -> Tensor[(12, 4), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:
        staged = tf.reshard(x[c.c * 4 : c.c * 4 + 4, :] + tf.cast(c.c, "f32"), (4, 4), "smem")
        r = tf.reshard(staged, (4 @ m.w, 4), "rmem")
        total = tf.reduce(r, (0, 1), True, ReduceKind.SUM)
        y = tf.reshard(r / total * tf.cast(m.w + 1, "f32"), (4, 4), "gmem")
        return tf.insert_slice(tf.zeros(Tensor[(12, 4), "f32"]), y, (c.c * 4, 0))


def one_level_two_meshes(x: np.ndarray) -> np.ndarray:
    out = np.zeros((8, 2))
    for t in range(8):
        h, q = divmod(t, 4)
        out[t] = x[t] + 100 * h + 10 * q + t
    return out


@program(one_level_two_meshes, (8, 2))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 2), "f32"]) -> Tensor[(8, 2), "f32"]:
    with Mesh(("thread",), (2, 4), ("h", "q")) as a:
        first = tf.reshard(x, (8 @ (a.h, a.q), 2), "rmem") + tf.cast(a.h * 100 + a.q * 10, "f32")
        staged = tf.reshard(first, (8, 2), "smem")
    with Mesh(("thread",), (8,), ("t",)) as b:
        return tf.reshard(tf.reshard(staged, (8 @ b.t, 2), "rmem") + tf.cast(b.t, "f32"), (8, 2), "gmem")


def sums_of_terms(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    terms = [x[:, 2 * w : 2 * w + 2] @ b[2 * w : 2 * w + 2] for w in range(4)]
    return sum(-term.sum(axis=1, keepdims=True) * (w + 1) for w, term in enumerate(terms))


@program(sums_of_terms, (2, 8), (8, 3))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(2, 8), "f32"], b: Tensor[(8, 3), "f32"]) -> Tensor[(2, 1), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        terms = tf.reshard(x, (2, 8 @ m.w), "rmem") @ tf.reshard(b, (8 @ m.w, 3), "rmem")
        kept = tf.reshard(terms, ((2, 3), {m.w @ P("sum")}), "rmem")
        total = tf.reduce(-kept * tf.cast(m.w + 1, "f32"), (1,), True, ReduceKind.SUM)
        return tf.reshard(total, (2, 1), "gmem")


def columns_that_the_owner_of_the_row_chooses(x: np.ndarray) -> np.ndarray:
    return np.stack([x[row, row // 2 : row // 2 + 3] for row in range(8)])


@program(columns_that_the_owner_of_the_row_chooses, (8, 6))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"]) -> Tensor[(8, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (8 @ m.w, 6), "rmem")
        return tf.reshard(r[:, m.w : m.w + 3], (8, 3), "gmem")


def owned_rows_in_windows_of_the_owner(x: np.ndarray) -> np.ndarray:
    out = np.zeros((8, 4))
    for w in range(4):
        out[2 * w, w] = x[w, 0]
    return out


@program(owned_rows_in_windows_of_the_owner, (4, 1))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(4, 1), "f32"]) -> Tensor[(8, 4), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (4 @ m.w, 1), "rmem")  # row w moves from w to w + w
        return tf.insert_slice(tf.zeros(Tensor[(8, 4), "f32"]), r, (m.w, m.w))


def rows_of_several_owners(x: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 3, 2))
    index = [5, 0, 6]
    for w in range(4):
        for k, row in enumerate(index):
            row = (row + w) % 8
            if row // 2 == w:  # each unit gives the rows that it owns
                out[w, k] = x[row]
    return out


@program(rows_of_several_owners, (8, 2))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 2), "f32"]) -> Tensor[(4, 3, 2), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (8 @ m.w, 2), "rmem")
        index = tf.reshard((tf.arange(Tensor[(3,), "i64"]) * 3 + 5) % 8, (3,), "rmem")
        index = tf.where(index == 3, 6, index)  # 5, 0, 6
        terms = tf.index_select(r, (index + m.w) % 8, dim=0)
        return tf.insert_slice(tf.zeros(Tensor[(4, 3, 2), "f32"]), tf.local(terms), (m.w, 0, 0))


def normed_rows_with_the_weight_of_the_owner(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    out = np.zeros((8, 6))
    for w in range(4):
        for row in (2 * w, 2 * w + 1):
            out[row] = x[row] / np.sqrt((x[row] ** 2).mean() + 1e-6) * g * (w - 1)
    return out


@program(normed_rows_with_the_weight_of_the_owner, (8, 6), (6,))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"], g: Tensor[(6,), "f32"]) -> Tensor[(8, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (8 @ m.w, 6), "rmem")
        mine = tf.reshard(g, (6,), "rmem") * tf.cast(m.w - 1, "f32")
        return tf.reshard(tf.rms_norm(r, mine), (8, 6), "gmem")


def sorted_copies(x: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 6))
    for w in range(4):
        out[w] = np.sort((x - w) ** 2)[::-1][:6] if w % 2 else np.cumsum(x - w)
    return out


@program(sorted_copies, (6,))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(6,), "f32"]) -> Tensor[(4, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        y = tf.reshard(x, (6,), "rmem") - tf.cast(m.w, "f32")
        values, _ = tf.topk(y * y, 6)
        y = tf.where(m.w % 2 == 1, values, tf.cumsum(y, 0))
        return tf.insert_slice(tf.zeros(Tensor[(4, 6), "f32"]), y, (m.w, 0))


def windows_in_registers(x: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 8))
    for w in range(4):
        mine = x.copy()
        mine[w + 1 : w + 3] = -x[:2]
        out[w] = mine
    return out


@program(windows_in_registers, (8,))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8,), "f32"]) -> Tensor[(4, 8), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        mine = tf.insert_slice(tf.reshard(x, (8,), "rmem"), -x[0:2], (m.w + 1,))
        return tf.insert_slice(tf.zeros(Tensor[(4, 8), "f32"]), mine, (m.w, 0))


def half_of_the_warps(x: np.ndarray) -> np.ndarray:
    out = x.copy()
    for w in (2, 3):  # of four warps
        for row in range(4):
            out[4 * (w - 2) + row] += w - 2
    return out


@program(half_of_the_warps, (8, 3))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 3), "f32"]) -> Tensor[(8, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l"))[2:4] as m:
        r = tf.reshard(x, (8 @ m.w, 3), "rmem")
        return tf.reshard(r + tf.cast(m.w, "f32"), (8, 3), "gmem")


def columns_first(x: np.ndarray) -> np.ndarray:
    out = np.zeros((8,))
    for t in range(8):
        a, b = t % 2, t // 2  # the mesh counts threads along its first axis first
        out[4 * a + b] = x[4 * a + b] * (10 * a + b) + t
    return out


@program(columns_first, (8,))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
    with Mesh(("thread",), Layout((2, 4), (1, 2)), ("a", "b")) as m:
        r = tf.reshard(x, (8 @ (m.a, m.b),), "rmem")
        y = r * tf.cast(m.a * 10 + m.b, "f32")
        return tf.reshard(y + tf.cast(m.b * 2 + m.a, "f32"), (8,), "gmem")


def convolution_of_the_owned_channels(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    out = np.zeros((1, 2, 3, 3))
    for w in range(4):
        term = np.zeros((2, 3, 3))
        for o in range(2):
            for i in range(3):
                for j in range(3):
                    term[o, i, j] = (x[0, w, i : i + 2, j : j + 2] * k[o, w]).sum()
        out[0] += term * (w + 1)
    return out


@program(convolution_of_the_owned_channels, (1, 4, 4, 4), (2, 4, 2, 2))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(1, 4, 4, 4), "f32"], k: Tensor[(2, 4, 2, 2), "f32"]) -> Tensor[(1, 2, 3, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        held = tf.reshard(x, (1, 4 @ m.w, 4, 4), "rmem")
        terms = tf.conv2d(held, tf.reshard(k, (2, 4 @ m.w, 2, 2), "rmem"))
        return tf.reshard(terms * tf.cast(m.w + 1, "f32"), (1, 2, 3, 3), "gmem")


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_a_model_of_each_unit(name: str) -> None:
    function, model, shapes = PROGRAMS[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=generator) for shape in shapes]
    expected = model(*(x.double().numpy() for x in inputs))
    exact = evaluate(function, *inputs, precision="f64")
    np.testing.assert_allclose(exact.numpy(), expected, rtol=1e-13, atol=1e-13)
    value = evaluate(function, *inputs)
    assert value.dtype == torch.float32
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-5)
