"""Loads are ordered by pipelines: ahead in loops, at once elsewhere."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, Dim, DimVar, dim_add, evaluate_dim
from tilefoundry.ir.tir import Binding, Evaluate, For, If, Index, Item, TensorView, TileLoad, fold, items_within, unfold
from tilefoundry.passes.names import Names
from tilefoundry.passes.pipeline import pipeline
from tilefoundry.passes.tir_samples import GLOBAL, fragment, kinds, load, mma, tile

A, B, R = tile("a"), tile("b"), fragment("r")


def looped(extent: Dim, stages: int = 2) -> list[Item]:
    i = Var("i", INDEX_TYPE)
    body: list[Item] = [A, load(A.var, i), B, load(B.var, dim_add(i, 16)), mma(A.var, B.var, R.var)]

    return pipeline([R, For(i, 0, extent, 16, fold(body))], Names(), stages)


def test_a_load_outside_loops_is_awaited_at_once() -> None:
    items = pipeline([A, B, R, load(A.var, 0), load(B.var, 16), mma(A.var, B.var, R.var)], Names(), 2)
    expected = ["let a", "let b", "let r", "let loads", "TileLoad", "TileLoad", "PipeCommit", "PipeWait", "Mma"]
    assert kinds(items) == expected


def test_loads_at_the_end_are_awaited() -> None:
    assert kinds(pipeline([A, load(A.var, 0)], Names(), 2))[-2:] == ["PipeCommit", "PipeWait"]


def test_structure_of_a_pipelined_loop() -> None:
    n = DimVar("N", 1, 1000)
    head = [
        "let r",
        "let a_ring",
        "let b_ring",
        "let pipe",
        "If[let a_next, TileLoad, let b_next, TileLoad]",
        "PipeCommit",
    ]
    loads = "If[let a_next_1, TileLoad, let b_next_1, TileLoad]"
    body = f"For[PipeWait, PipeAcquire, {loads}, PipeCommit, let stage, let a, let b, Mma, PipeRelease]"
    assert kinds(looped(n)) == [*head, body, "PipeDrain"]


def test_one_stage_loads_and_waits() -> None:
    assert (
        kinds(looped(64, stages=1))[-1] == "For[let a, let loads, TileLoad, let b, TileLoad, PipeCommit, PipeWait, Mma]"
    )


def test_every_iteration_reads_what_was_loaded_for_it() -> None:
    """Runs the schedule by hand: which rows a stage holds when an iteration computes on it."""
    for stages in (2, 3, 4):
        for extent in (16, 17, 48, 160):
            held: dict[tuple[str, int], int] = {}
            computed: list[tuple[int, int]] = []
            run(looped(extent, stages), {}, held, computed)
            assert computed == [(row, row + 16) for row in range(0, extent, 16)]


def run(
    items: list[Item], values: dict[Expr, int], held: dict[tuple[str, int], int], computed: list[tuple[int, int]]
) -> None:
    where: dict[Var, tuple[str, int]] = {}
    for item in items:
        match item:
            case Binding(var, Call(target=Index(), args=(value,))):
                values[var] = evaluate_dim(value, {}, values)
            case Binding(var, Call(target=TensorView(), args=(Var() as ring, stage, 0, 0))):
                where[var] = (ring.name, evaluate_dim(stage, {}, values))
            case Evaluate(TileLoad(), (tensor, Tuple(elements=(row, _)), Var() as dst, _)):
                assert tensor is GLOBAL
                held[where[dst]] = evaluate_dim(row, {}, values)
            case Evaluate(args=(_, Var() as a, Var() as b)):
                computed.append((held[where[a]], held[where[b]]))
            case If(Call(args=(lhs, rhs)), body):
                if evaluate_dim(lhs, {}, values) < evaluate_dim(rhs, {}, values):
                    run(unfold(body), values, held, computed)
            case For(extent=int(extent), step=int(step)):
                for index in range(0, extent, step):
                    values[item.var] = index
                    run(unfold(item.body), values, held, computed)


def test_a_loop_with_a_run_time_step_is_not_pipelined() -> None:
    i, step = Var("i", INDEX_TYPE), Var("step", INDEX_TYPE)

    out = pipeline([For(i, 0, 64, step, fold([A, load(A.var, i), mma(A.var, A.var, R.var)]))], Names(), 2)
    assert kinds(out) == ["For[let a, let loads, TileLoad, PipeCommit, PipeWait, Mma]"]


def test_a_load_that_depends_on_the_body_is_not_moved() -> None:
    i, row = Var("i", INDEX_TYPE), Var("row", INDEX_TYPE)

    body: list[Item] = [
        Binding(row, Call(Index(), (dim_add(i, 1),), INDEX_TYPE)),
        A,
        load(A.var, row),
        mma(A.var, A.var, R.var),
    ]
    out = pipeline([For(i, 0, 64, 16, fold(body))], Names(), 2)
    assert kinds(out) == ["For[let row, let a, let loads, TileLoad, PipeCommit, PipeWait, Mma]"]
    assert len([x for x in items_within(out) if isinstance(x, Evaluate) and isinstance(x.callable, TileLoad)]) == 1
