"""On which thread-level mesh axes instances differ on a value: where each has its own copy, or its own part of one.

Whoever lets one thread speak for others, or puts what threads hold side by side, asks here. CTAs share no registers,
so their axes do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_mul
from tilefoundry.ir.hir import GridRegionExpr, Local, MeshCoordinate, Reshard
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Layout,
    MeshAxis,
    ShardLayout,
    Split,
    axis_levels,
    flat_modes,
)
from tilefoundry.ir.traverse import operands_of, post_order
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType

Axes = frozenset[MeshAxis]


class OwnCopies:
    """For each value, the axes of threads along which copies of its elements may differ; remembered by identity.

    Args:
        results: what the function returns.
    """

    def __init__(self, results: Iterable[Expr]) -> None:
        self._known: dict[int, tuple[Expr, Axes]] = {}
        self._include(tuple(results))

    def of(self, value: Expr | int) -> Axes:
        """The axes of a value. One that splits it is not among them: each element has one owner."""
        if isinstance(value, int):
            return frozenset()
        if id(value) not in self._known:
            self._include((value,))
        return self._known[id(value)][1]

    def _include(self, roots: tuple[Expr, ...]) -> None:
        nodes = tuple(post_order(*roots, known=lambda node: id(node) in self._known))
        for loop in nodes:
            if isinstance(loop, GridRegionExpr):  # what it carries may differ along all axes of which it speaks
                within = post_order(*loop.init_args, *loop.yield_values)
                axes = frozenset(axis for node in within for axis in _first_along(node))
                for carried in loop.carried_args:
                    self._known[id(carried)] = (carried, axes - _splitting(carried))
        for node in nodes:
            if id(node) not in self._known:
                self._known[id(node)] = (node, self._axes(node))

    def _axes(self, node: Expr) -> Axes:
        if isinstance(node, Var):
            return frozenset()
        axes = _first_along(node).union(*(self._known[id(part)][1] for part in operands_of(node)))
        if isinstance(node, Call) and isinstance(node.target, Reshard):
            levels = {level for value in (node, *operands_of(node)) for level in _agreeing(value)}
            axes = frozenset(axis for axis in axes if level_of(axis) not in levels)
        return axes - _splitting(node)


def level_of(axis: MeshAxis) -> str:
    """The topology level of a mesh axis, or of one of a slice of a mesh."""
    mesh = axis.mesh
    if isinstance(mesh.layout, Layout):
        return mesh.topologies[axis_levels(mesh)[axis.axis]].name
    assert isinstance(mesh.layout, ComposedLayout) and isinstance(mesh.layout.outer, Layout)
    _, step = flat_modes(mesh.layout.outer)[axis.axis]
    below: ShapeDim = 1
    for level in reversed(mesh.topologies[1:]):
        below = dim_mul(below, level.size)
        if isinstance(step, int) and isinstance(below, int) and step < below:
            return level.name
    return mesh.topologies[0].name


def _first_along(node: Expr) -> Axes:
    """The axes of threads along which a value differs, and not for its operands."""
    match node:
        case Call(target=MeshCoordinate(axis=axis)):
            axes = [axis]
        case Call(target=Local(), args=(Expr(type=TensorType(layout=ShardLayout() as layout)),)):
            axes = [MeshAxis(layout.mesh, n) for n, attr in enumerate(layout.attrs) if not isinstance(attr, Broadcast)]
        case _:
            axes = []
    return frozenset(axis for axis in axes if axis.extent != 1 and level_of(axis) == "thread")


def _splitting(node: Expr) -> Axes:
    layout = node.type.layout if isinstance(node.type, TensorType) else None
    if not isinstance(layout, ShardLayout):
        return frozenset()
    return frozenset(MeshAxis(layout.mesh, n) for n, attr in enumerate(layout.attrs) if isinstance(attr, Split))


def _agreeing(value: Expr) -> tuple[str, ...]:
    """The levels whose units agree on the copies of a value before, or after, it is resharded."""
    assert isinstance(value.type, TensorType)
    if isinstance(value.type.layout, ShardLayout):
        return tuple(level.name for level in value.type.layout.mesh.topologies)
    return ("thread",) if value.type.storage is StorageKind.SMEM else ()
