"""Shared tiles get disjoint, aligned places in one span."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.tir import Binding, MemorySpan, TensorView, fold, items_within
from tilefoundry.passes.memory import plan_memory
from tilefoundry.passes.names import Names
from tilefoundry.passes.pipeline import pipeline
from tilefoundry.passes.sizes import alignment, storage_bytes
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
