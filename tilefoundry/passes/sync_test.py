"""Barriers stand where instances would otherwise race on shared memory, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.tir import Binding, Element, Evaluate, Item, PipeWait, WholeFill, view_as
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.sync import insert_barriers
from tilefoundry.passes.tir_samples import TILE, copy, fragment, kinds, loop, mma, tile, view

A, B, R = tile("a"), tile("b"), fragment("r")
HEAD: list[Item] = [A, B, R]


def barriers(*effects: Item) -> list[str]:
    return kinds(insert_barriers([*HEAD, *effects]))[len(HEAD) :]


def test_read_after_write() -> None:
    assert barriers(copy(R.var, A.var), mma(A.var, B.var, R.var)) == ["Copy", "Sync", "Mma"]


def test_write_after_read() -> None:
    assert barriers(mma(A.var, B.var, R.var), copy(R.var, B.var)) == ["Mma", "Sync", "Copy"]


def test_write_after_write() -> None:
    assert barriers(copy(R.var, A.var), copy(R.var, A.var)) == ["Copy", "Sync", "Copy"]


def test_reads_do_not_race() -> None:
    assert barriers(mma(A.var, B.var, R.var), copy(A.var, R.var)) == ["Mma", "Copy"]


def test_other_buffers_do_not_race() -> None:
    assert barriers(copy(R.var, A.var), copy(R.var, B.var)) == ["Copy", "Copy"]


def test_registers_need_no_barrier() -> None:
    other = fragment("s")
    assert barriers(other, copy(R.var, other.var), copy(other.var, R.var)) == ["let s", "Copy", "Copy"]


def test_a_view_is_its_buffer() -> None:
    v = view("v", A.var)
    assert barriers(v, copy(R.var, v.var), mma(A.var, B.var, R.var)) == ["let v", "Copy", "Sync", "Mma"]


def test_one_barrier_serves_all_buffers() -> None:
    effects = (copy(R.var, A.var), copy(R.var, B.var), mma(A.var, B.var, R.var), copy(B.var, R.var))
    assert barriers(*effects) == ["Copy", "Copy", "Sync", "Mma", "Copy"]


def test_a_pipeline_wait_is_a_barrier() -> None:
    pipe: Expr = R.var
    assert barriers(copy(R.var, A.var), Evaluate(PipeWait(0), (pipe,)), mma(A.var, B.var, R.var)) == [
        "Copy",
        "PipeWait",
        "Mma",
    ]


def test_hazard_between_iterations() -> None:
    # iteration 1 writes what iteration 0 reads last
    _, body = loop("i", 4, 1, copy(R.var, A.var), mma(A.var, B.var, R.var))
    assert barriers(body) == ["For[Sync, Copy, Sync, Mma]"]


def test_hazard_after_a_loop() -> None:
    _, body = loop("i", 4, 1, mma(A.var, B.var, R.var))
    assert barriers(body, copy(R.var, A.var)) == ["For[Mma]", "Sync", "Copy"]


def test_hazard_into_a_loop_that_may_not_run() -> None:
    _, body = loop("i", 4, 1, copy(R.var, B.var))
    assert barriers(copy(R.var, A.var), body, mma(A.var, A.var, R.var)) == ["Copy", "For[Sync, Copy]", "Sync", "Mma"]


def window(name: str, of: Var) -> Binding:
    """Rows of a tile, from its second one on."""
    part = replace(TILE, shape=(8, 16), layout=Layout((8, 16), (20, 1)))
    return Binding(Var(name, part), Call(view_as(part), (of, 1, 0), part))


def element(name: str, of: Var) -> Binding:
    """The first element of a tile."""
    scalar = TensorType.umat_scalar(TILE.dtype)
    return Binding(Var(name, scalar), Call(Element(), (of, 0, 0), scalar))


def test_a_window_is_its_buffer() -> None:
    v = window("v", A.var)
    assert barriers(v, Evaluate(WholeFill(), (0, v.var)), copy(A.var, R.var)) == ["let v", "WholeFill", "Sync", "Copy"]


def test_an_element_is_read() -> None:
    e = element("e", A.var)
    assert barriers(copy(R.var, A.var), e, copy(R.var, A.var)) == ["Copy", "Sync", "let e", "Sync", "Copy"]
