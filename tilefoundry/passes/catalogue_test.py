"""Every op of the catalogue compiles on global tensors, in one of the ways that there are."""

from __future__ import annotations

from tilefoundry.ir import hir
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import (
    Arange,
    CacheUpdate,
    FullLike,
    IndexAdd,
    IndexCopy,
    InsertSlice,
    Local,
    MeshCoordinate,
    MmaSm80,
    Rank,
    Reshard,
    ScatterAdd,
    ShapeOf,
    Slice,
    SplitParts,
    TupleGetItem,
    WgmmaSm90,
    Zeros,
)
from tilefoundry.passes.lower.deferred import has_tiles
from tilefoundry.passes.lower.expansion import is_expanded
from tilefoundry.passes.lower.registry import rule_for

# Ops whose value is a description or a number, whatever they are made of.
DESCRIBED: dict[type[Op], str] = {
    Arange: "a ramp",
    FullLike: "one number everywhere",
    Rank: "a number that is known when the program is written",
    ShapeOf: "the extents, joined",
    Slice: "a window",
    SplitParts: "each part is a slice",
    TupleGetItem: "one of several values",
    Zeros: "one number everywhere",
}
# Ops that write into a copy of a tensor, where that is a result or a tile of its own.
WRITTEN: frozenset[type[Op]] = frozenset((CacheUpdate, IndexAdd, IndexCopy, InsertSlice, ScatterAdd))
# Ops of placement: their operands lie where their author said.
PLACED: frozenset[type[Op]] = frozenset((Local, MeshCoordinate, MmaSm80, Reshard, WgmmaSm90))


def catalogue() -> set[type[Op]]:
    """The classes of all ops of the language."""
    named = (value for value in vars(hir).values() if isinstance(value, type) and issubclass(value, Op))
    return {op for op in named if op.dialect == "tf"}


def test_every_op_compiles_in_some_way() -> None:
    without = [
        op.__name__
        for op in catalogue()
        if not has_tiles(op) and not is_expanded(op) and op not in {*DESCRIBED, *WRITTEN, *PLACED}
    ]
    assert not without
    assert not [op.__name__ for op in catalogue() if rule_for(op) is None]


def test_the_exceptions_are_exceptions() -> None:
    stale = [op.__name__ for op in (*DESCRIBED, *WRITTEN, *PLACED) if has_tiles(op) or is_expanded(op)]
    assert not stale
