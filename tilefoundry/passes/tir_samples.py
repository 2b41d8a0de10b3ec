"""Small pieces of TIR for the tests of passes."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, Dim
from tilefoundry.ir.shard import Layout, ShardLayout, Split, Topology, make_mesh
from tilefoundry.ir.tir import (
    AllocTensor,
    Binding,
    Copy,
    Evaluate,
    For,
    Item,
    Mma,
    Stmt,
    TileLoad,
    fold,
    inner_blocks,
    unfold,
    view_as,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType

TILE = TensorType((16, 16), DType.f32, Layout((16, 16), (20, 1)), StorageKind.SMEM)
_MESH = make_mesh((16,), names=("t",), topology=Topology("thread", 16))
FRAGMENT = TensorType((16, 16), DType.f32, ShardLayout(Layout((16, 16), (0, 1)), (Split(0),), _MESH), StorageKind.RMEM)
GLOBAL = Var("x", TensorType((64, 16), DType.f32, None, StorageKind.GMEM))


def tile(name: str) -> Binding:
    """A shared tile."""
    return Binding(Var(name, TILE), Call(AllocTensor(TILE), (), TILE))


def fragment(name: str) -> Binding:
    """A register fragment."""
    return Binding(Var(name, FRAGMENT), Call(AllocTensor(FRAGMENT), (), FRAGMENT))


def view(name: str, of: Var) -> Binding:
    """A view of a whole tile."""
    return Binding(Var(name, TILE), Call(view_as(TILE), (of,), TILE))


def load(dst: Var, row: Dim) -> Evaluate:
    """Loads a tile of GLOBAL."""
    return Evaluate(TileLoad((16, 16)), (GLOBAL, Tuple((row, 0)), dst))


def copy(src: Expr, dst: Expr) -> Evaluate:
    """Copies between a fragment and a tile."""
    return Evaluate(Copy(), (src, dst))


def mma(a: Expr, b: Expr, acc: Expr) -> Evaluate:
    """A product of shared tiles."""
    return Evaluate(Mma(), (acc, a, b))


def loop(name: str, extent: Dim, step: int, *items: Item) -> tuple[Var, For]:
    """A loop and its variable."""
    var = Var(name, INDEX_TYPE)
    return var, For(var, 0, extent, step, fold(items))


def kinds(items: list[Item]) -> list[str]:
    """The kind of each item, inner blocks in brackets: what a test compares."""
    out: list[str] = []
    for item in items:
        match item:
            case Binding(var, _):
                out.append(f"let {var.name}")
            case Evaluate(op, _):
                out.append(type(op).__name__)
            case _:
                out.append(f"{type(item).__name__}[{', '.join(kinds(_inner(item)))}]")
    return out


def _inner(item: Stmt) -> list[Item]:
    return [inner for block in inner_blocks(item) for inner in unfold(block)]
