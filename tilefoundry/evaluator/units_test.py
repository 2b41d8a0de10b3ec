"""Coordinates, owners and terms, against numpy models that compute unit by unit."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import numpy as np
import pytest

from tilefoundry.dsl import Layout, Mesh, P, ReduceKind, Tensor, Topology, tf
from tilefoundry.evaluator.unit_models import Models
from tilefoundry.python import func

CTA, THREAD = Topology("cta", 3), Topology("thread", 8)
program = Models()


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


def windows_of_registers(x: np.ndarray) -> np.ndarray:
    out = x.copy()
    for w in range(4):
        for row in (2 * w, 2 * w + 1):
            out[row, 1:3] = x[row, 4:6] * w
            out[row, w] = x[row, 5]
    return out


@program(windows_of_registers, (8, 6))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 6), "f32"]) -> Tensor[(8, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        r = tf.reshard(x, (8 @ m.w, 6), "rmem")
        s = tf.insert_slice(r, r[:, 4:6] * tf.cast(m.w, "f32"), (0, 1))
        t = tf.insert_slice(s, r[:, 5:6], (0, m.w))
        return tf.reshard(t, (8 @ m.w, 6), "gmem")


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


@pytest.mark.parametrize("name", program.known)
def test_against_a_model_of_each_unit(name: str) -> None:
    program.check(name)
