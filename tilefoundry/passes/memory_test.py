"""Shared tiles get disjoint, aligned places in one span."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_add, dim_mul
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.tir import Binding, MemorySpan, TensorView, fold, items_within, view_as
from tilefoundry.passes.memory import plan_memory
from tilefoundry.passes.names import Names
from tilefoundry.passes.pipeline import pipeline
from tilefoundry.passes.sizes import alignment, known_multiple, storage_bytes
from tilefoundry.passes.tir_samples import TILE, fragment, load, loop, mma, tile


def test_no_tiles_no_span() -> None:
    r = fragment("r")
    assert plan_memory([r], Names()) == ([r], 0)


def test_tiles_are_disjoint_and_aligned() -> None:
    items, used = plan_memory([tile("a"), tile("b"), loop("i", 4, 1, tile("c"))[1]], Names())
    offsets = [
        item.value.args[1]
        for item in items_within(items)
        if isinstance(item, Binding) and isinstance(item.value, Call) and isinstance(item.value.target, TensorView)
    ]
    size = storage_bytes(TILE)
    assert size == -(-(15 * 20 + 16) * 4 // alignment(TILE)) * alignment(TILE)
    assert offsets == [0, size, 2 * size] and used == 3 * size
    first = items[0]
    assert isinstance(first, Binding) and isinstance(first.value, Call) and first.value.target == MemorySpan(used)


def test_a_ring_takes_its_stages() -> None:
    a, r = tile("a"), fragment("r")
    names = Names()
    i, body = loop("i", DimVar("N", 1, 100), 16)

    body = replace(body, body=fold([a, load(a.var, i), mma(a.var, a.var, r.var)]))
    _, used = plan_memory(pipeline([r, body], names, 3), names)
    assert used == 3 * storage_bytes(TILE)


def test_a_window_of_a_window_starts_where_both_say() -> None:
    a = tile("a")
    rows = replace(TILE, shape=(8, 16), layout=Layout((8, 16), (20, 1)))
    first = Binding(Var("first", rows), Call(view_as(rows), (a.var, 2, 0), rows))
    second = Binding(Var("second", rows), Call(view_as(rows), (first.var, 1, 4), rows))
    items, _ = plan_memory([tile("z"), a, first, second], Names())
    last = items[-1]
    assert isinstance(last, Binding) and isinstance(last.value, Call)
    offset = last.value.args[1]
    assert offset == storage_bytes(TILE) + (3 * 20 + 4) * 4
    assert known_multiple(offset) == 16 and known_multiple(dim_add(offset, 4)) == 4


def test_what_divides_an_offset_whatever_its_variables_are() -> None:
    i = Var("i", INDEX_TYPE)
    assert known_multiple(dim_add(dim_mul(i, 12), 8)) == 4
    assert known_multiple(dim_mul(dim_add(i, 1), 32)) == 16
    assert known_multiple(i) == 1 and known_multiple(0) == 16


def test_what_is_known_of_variables_divides_more() -> None:
    i, j = Var("i", INDEX_TYPE), Var("j", INDEX_TYPE)
    known = {i: 8}
    assert known_multiple(i, multiples=known) == 8 and known_multiple(dim_mul(i, 2), multiples=known) == 16
    assert known_multiple(dim_add(i, 4), multiples=known) == 4 and known_multiple(dim_add(i, j), multiples=known) == 1
