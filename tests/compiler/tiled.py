"""Programs whose results are computed tile by tile from unplaced values: what placing a program makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilefoundry import Topology
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice, Reshard, Slice, Zeros
from tilefoundry.ir.shard import Layout, Mesh, MeshAxis
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType, TupleType, make_tensor_type
from tilefoundry.passes.lower.fragments import Mode, Modes, extent_of, spread_over, whole
from tilefoundry.target import CudaTarget

CTAS, WARPS, LANES = 2, 4, 32
GRID = Mesh((Topology("cta", CTAS),), Layout((CTAS,)), ("c",))
THREADS = Mesh((Topology("thread", WARPS * LANES),), Layout((WARPS, LANES)), ("w", "l"))
ALONE = Mesh((Topology("thread", 1),), Layout((1,)), ("t",))
W, L = Mode(WARPS, 0), Mode(LANES, 1)


def m(*factors: int | Mode) -> Modes:
    """The factors of an axis, outermost first."""
    return tuple(Mode(f) if isinstance(f, int) else f for f in factors)


@dataclass(frozen=True)
class Tiled:
    """A value and how it is walked: the factors of a tile of each axis, () for one element; None for a result."""

    value: Expr
    tile: tuple[Modes, ...] | None


def program(types: Sequence[TensorType], build: Callable[..., Sequence[Tiled]], mesh: Mesh = THREADS) -> Module:
    """One kernel that computes all of some values of parameters of these types, in each of two CTAs by these threads.

    On the mesh of one thread the tiles are as large, and none of their axes are split.
    """
    params = tuple(Var(f"x{k}", type_) for k, type_ in enumerate(types))
    results = [_filled(tiled, mesh) for tiled in build(*params)]
    body = results[0] if len(results) == 1 else Tuple(tuple(results))
    type_ = body.type if len(results) == 1 else TupleType(tuple(r.type for r in results))
    topologies = (Topology("cta", CTAS), mesh.topologies[0])
    target = CudaTarget("nvidia.h200_sxm")
    return Module("P", (Function("f", params, body, type_),), "f", target=target, topologies=topologies)


def of(shape: Sequence[ShapeDim], dtype: str) -> TensorType:
    """The type of a parameter."""
    return make_tensor_type(tuple(shape), dtype, storage=StorageKind.GMEM)


def _filled(tiled: Tiled, mesh: Mesh) -> Expr:
    t = tiled.value.type
    assert isinstance(t, TensorType)
    if tiled.tile is None:
        return tiled.value
    if not t.shape:
        return Call(Reshard(spread_over(mesh), StorageKind.RMEM), (tiled.value,))
    sizes = tuple(extent_of(modes) for modes in tiled.tile)
    modes = tiled.tile if mesh is THREADS else tuple(map(whole, sizes))
    starts = [Var(f"i{k}", INDEX_TYPE) for k in range(t.rank)]
    out = of(t.shape, t.dtype.name)
    carries = [Var(f"out{k}", out) for k in range(t.rank)]
    inits = [Call(Zeros(out), ()), *carries[:-1]]
    at = Tuple(tuple(starts))
    window = Call(Slice(sizes, (), (), ("zero",) * t.rank), (tiled.value, at))
    tile = Call(Reshard(spread_over(mesh, *modes), StorageKind.RMEM), (window,))
    value: Expr = Call(InsertSlice(sizes, ("clip",) * t.rank), (carries[-1], tile, at))
    for k in reversed(range(t.rank)):
        spread = MeshAxis(GRID, 0)
        value = GridRegionExpr(starts[k], (carries[k],), (inits[k],), None, (value,), t.shape[k], sizes[k], 0, spread)
    return value
