"""Which barrier a ``Sync`` is: what follows from the units that take part, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tilefoundry.diagnostics import VerifyError, VerifyValueError
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, flat_modes

WARP = 32
NAMED_BARRIERS = 15  # of a CTA: ids 1 to 15; 0 is the CTA's own


class BarrierKind(Enum):
    """The instruction."""

    CTA = "cta"  # __syncthreads
    WARP = "warp"  # __syncwarp(mask)
    NAMED = "named"  # bar.sync id, count
    GRID = "grid"  # all CTAs of the launch, which must be resident together


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier of the threads [base, base + count) of a CTA, or of the whole grid.

    Attributes:
        mask: the lanes of a warp barrier.
        bar_id: of a named barrier, 1 to 15; each site has its own.
        predicated: other threads of the CTA pass by, so the threads that take part must be singled out.
    """

    kind: BarrierKind
    base: int = 0
    count: int = 0
    mask: int = 0
    bar_id: int = 0
    predicated: bool = False


def classify_sync(mesh: Mesh, named_before: int = 0) -> Barrier:
    """The barrier of the units of a mesh or of a slice of one.

    The threads must be one contiguous interval. All of the CTA: ``__syncthreads``, or ``__syncwarp`` where the CTA is
    one warp. Lanes of one warp: ``__syncwarp(mask)``. Whole warps: ``bar.sync`` with an id of its own. A whole cta mesh
    is a grid barrier.

    Args:
        named_before: how many named barriers the kernel has at earlier sites.

    Raises:
        VerifyError: no barrier joins exactly these units.
        VerifyValueError: the kernel has no named barrier left (a ValueError).
    """
    levels = [t.name for t in mesh.topologies]
    if "cta" in levels:
        return _grid(mesh)
    if levels != ["thread"]:
        raise VerifyError(
            f"sync: units of {', '.join(levels) or 'no level'} do not meet", remedy="use a mesh over threads or CTAs"
        )
    block = mesh.topologies[0].size
    if not isinstance(block, int):
        raise VerifyError(f"sync: the thread level has the symbolic size {block}", remedy="give it a static size")
    ids = participants(mesh)
    base, count = ids[0], len(ids)
    if ids != list(range(base, base + count)):
        raise VerifyError(
            f"sync: the {count} threads from {base} to {ids[-1]} are not one contiguous interval",
            remedy="slice leading axes of the mesh, so that the threads that meet are neighbours",
        )
    if count == block:
        if count == WARP:
            return Barrier(BarrierKind.WARP, 0, WARP, _lanes(0, WARP))
        return Barrier(BarrierKind.CTA, 0, block)
    lane = base % WARP
    if lane + count <= WARP:
        return Barrier(BarrierKind.WARP, base, count, _lanes(lane, count), predicated=True)
    if lane or count % WARP:
        raise VerifyError(
            f"sync: threads {base} to {base + count - 1} are neither within one warp nor whole warps",
            remedy=f"let them start and end at multiples of {WARP}",
        )
    if named_before >= NAMED_BARRIERS:
        raise VerifyValueError(
            f"sync: the kernel has more than {NAMED_BARRIERS} barriers of some of its warps",
            remedy="let all threads of the CTA meet at some of them: T.sync(m) on the whole mesh",
        )
    return Barrier(BarrierKind.NAMED, base, count, bar_id=named_before + 1, predicated=True)


def participants(mesh: Mesh) -> list[int]:
    """The ids of a mesh's units, ascending.

    Raises:
        VerifyError: the mesh has a symbolic extent.
    """
    offset: object = 0
    layout = mesh.layout
    if isinstance(layout, ComposedLayout):
        offset, outer = layout.offset, layout.outer
        assert isinstance(outer, Layout)  # a slice of a mesh
        layout = outer
    ids = [0]
    for extent, stride in flat_modes(layout):
        if not (isinstance(offset, int) and isinstance(extent, int) and isinstance(stride, int)):
            raise VerifyError(f"the mesh {mesh.shape} has a symbolic extent", remedy="give its axes static extents")
        ids = [unit + at * stride for unit in ids for at in range(extent)]
    assert isinstance(offset, int)
    return sorted(offset + unit for unit in ids)


def _grid(mesh: Mesh) -> Barrier:
    whole = isinstance(mesh.layout, Layout)
    total = mesh.topologies[0].size
    for level in mesh.topologies[1:]:
        total = total * level.size  # type: ignore[operator]  # dims multiply
    if not whole or not dim_equal(mesh.size, total):
        raise VerifyError(
            "sync: some of the CTAs cannot meet; a barrier joins the threads of one CTA, or all CTAs",
            remedy="sync a thread mesh, or the whole cta mesh",
        )
    return Barrier(BarrierKind.GRID)


def _lanes(first: int, count: int) -> int:
    return ((1 << count) - 1) << first
