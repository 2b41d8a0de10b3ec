"""One kernel: the loops over the tiles of its results, and the placed tile of each in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, Metadata, SourceSpanMetadata, find_metadata
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice, Reshard, Slice, TupleGetItem, Zeros
from tilefoundry.ir.shard import Layout, Mesh, MeshAxis, Topology
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import INDEX_TYPE, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.fragments import Modes, spread_over


@dataclass(frozen=True, slots=True)
class Walk:
    """How the results of a kernel are walked, tile by tile, and how a tile is spread over the threads of a CTA.

    Attributes:
        ctas: a mesh of one axis, over which tiles are spread.
        sizes: extents of a tile, one for each axis of the results.
        modes: of each axis of a tile.
        kept: axes along which one CTA computes all tiles, one after the other: what is reduced along them is computed
            before the first.
    """

    ctas: Mesh
    threads: Mesh
    sizes: tuple[int, ...]
    modes: tuple[Modes, ...]
    kept: frozenset[int] = frozenset()

    def looped(self, shape: Sequence[ShapeDim]) -> list[int]:
        """The axes that are walked, in the order of the loops; at least one, to spread over CTAs."""
        axes = [axis for axis, size in enumerate(self.sizes) if size != shape[axis]] or [0]
        return sorted(axes, key=lambda axis: axis in self.kept)


def mesh_of(level: Topology, shape: tuple[ShapeDim, ...], names: tuple[str, ...]) -> Mesh:
    """A mesh over one level, its last axis contiguous."""
    strides: list[ShapeDim] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent if isinstance(extent, int) else step  # of one axis, where it is symbolic
    return Mesh((level,), Layout(shape, tuple(reversed(strides))), names)


def named(mesh: Mesh) -> Mesh:
    """The mesh with names for its axes, as a `with Mesh` has them."""
    return mesh if mesh.names else replace(mesh, names=tuple(f"t{k}" for k in range(mesh.rank)))


def tiled_kernel(name: str, params: Sequence[Var], values: Sequence[Expr], walk: Walk) -> Function:
    """A function of the values, which have one shape, in tiles."""
    metadata = _domain(values[0], walk)
    types = [_tensor(value) for value in values]
    outs = tuple(Call(Zeros(type_), (), metadata=metadata) for type_ in types)
    results = _loops(values, outs, walk, walk.looped(types[0].shape), {}, metadata)
    return function_of(name, params, results)


def function_of(name: str, params: Sequence[Var], results: Sequence[Expr]) -> Function:
    """A function that returns the results; its type is theirs."""
    body = results[0] if len(results) == 1 else Tuple(tuple(results))
    type_ = body.type if len(results) == 1 else TupleType(tuple(result.type for result in results))
    return Function(name, tuple(params), body, type_)


def _loops(
    values: Sequence[Expr],
    outs: tuple[Expr, ...],
    walk: Walk,
    axes: Sequence[int],
    starts: dict[int, Var],
    metadata: Metadata,
) -> tuple[Expr, ...]:
    """What `outs` become once all tiles from `starts` on are inserted, by a loop for each of the axes."""
    if not axes:
        return tuple(_inserted(v, out, walk, starts, metadata) for v, out in zip(values, outs, strict=True))
    axis, *inner = axes
    carried = tuple(Var(f"out{k}", out.type) for k, out in enumerate(outs))
    index = Var(f"i{axis}", INDEX_TYPE)
    region = GridRegionExpr(
        index,
        carried,
        outs,
        None,
        _loops(values, carried, walk, inner, {**starts, axis: index}, metadata),
        _tensor(values[0]).shape[axis],
        walk.sizes[axis],
        spread=None if axis in walk.kept else MeshAxis(walk.ctas, 0),
        metadata=metadata,
    )
    if len(outs) == 1:
        return (region,)
    return tuple(Call(TupleGetItem(k), (region,), metadata=metadata) for k in range(len(outs)))


def _inserted(value: Expr, out: Expr, walk: Walk, starts: dict[int, Var], metadata: Metadata) -> Expr:
    """`out` with the tile of the value that starts there."""
    axes = range(len(walk.sizes))
    begin = Tuple(tuple(starts.get(axis, 0) for axis in axes))

    def boundary(outside: str) -> tuple[str, ...]:
        return tuple(outside if axis in starts else "error" for axis in axes)

    window = value
    if starts:
        window = Call(Slice(walk.sizes, boundary=boundary("zero")), (value, begin), metadata=metadata)
    layout = spread_over(walk.threads, *walk.modes)
    tile = Call(Reshard(layout, StorageKind.RMEM), (window,), metadata=metadata)
    return Call(InsertSlice(walk.sizes, boundary("clip")), (out, tile, begin), metadata=metadata)


def _domain(value: Expr, walk: Walk) -> Metadata:
    span = find_metadata(value.metadata, SourceSpanMetadata)
    scopes = ExecutionDomainMetadata((walk.ctas, walk.threads))
    return (scopes,) if span is None else (span, scopes)


def _tensor(value: Expr) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def variables_of(*values: Expr) -> tuple[Var, ...]:
    """The Vars that values are made of, in the order of the program."""
    return tuple(part for part in post_order(*values) if isinstance(part, Var))
