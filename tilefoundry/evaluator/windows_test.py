"""Windows and loops of each unit, against numpy models that compute unit by unit."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import numpy as np
import pytest

from tilefoundry.dsl import Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.evaluator.unit_models import Models
from tilefoundry.python import func

CTA, THREAD = Topology("cta", 3), Topology("thread", 8)
program = Models()


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


def carried_coordinates(x: np.ndarray) -> np.ndarray:
    return np.stack([x[row] + ((row // 2) * 4 + 3) * 2.0 ** (row // 2) for row in range(8)])


@program(carried_coordinates, (8, 4))
@func(topologies=(CTA, THREAD))
def _(x: Tensor[(8, 4), "f32"]) -> Tensor[(8, 4), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        a = m.w
        r = tf.reshard(x, (8 @ m.w, 4), "rmem")
        for i in range(3):
            a = a + i + m.w
        for _ in range(m.w):
            a = a * 2
        return tf.reshard(r + tf.cast(a, "f32"), (8, 4), "gmem")


@pytest.mark.parametrize("name", program.known)
def test_against_a_model_of_each_unit(name: str) -> None:
    program.check(name)
