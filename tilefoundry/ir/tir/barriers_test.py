"""Which barrier follows from the units that meet."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import Layout, Mesh, Topology
from tilefoundry.ir.tir.barriers import NAMED_BARRIERS, Barrier, BarrierKind, classify_sync, participants

G = DimVar("G", 1, 1 << 20)


def threads(shape, strides=None, size=None):
    count = 1
    for extent in shape:
        count *= extent
    return Mesh((Topology("thread", size or count),), Layout(shape, strides))


BLOCK = threads((4, 32))  # warp, lane
HALVES = threads((8, 16))
ONE_WARP = threads((4, 8))
CTAS = Mesh((Topology("cta", 8),), Layout((2, 4)))
GRID = Mesh((Topology("cta", 2), Topology("thread", 64)), Layout((2, 64)))

TABLE = {
    "the whole CTA": (BLOCK, Barrier(BarrierKind.CTA, 0, 128)),
    "the whole CTA, transposed": (threads((4, 32), (1, 4)), Barrier(BarrierKind.CTA, 0, 128)),
    "a CTA of one warp": (ONE_WARP, Barrier(BarrierKind.WARP, 0, 32, 0xFFFFFFFF)),
    "a CTA of less than a warp": (threads((16,)), Barrier(BarrierKind.CTA, 0, 16)),
    "a slice that is all": (BLOCK[0:4], Barrier(BarrierKind.CTA, 0, 128)),
    "one warp of four": (BLOCK[2], Barrier(BarrierKind.WARP, 64, 32, 0xFFFFFFFF, predicated=True)),
    "half a warp": (HALVES[3], Barrier(BarrierKind.WARP, 48, 16, 0xFFFF0000, predicated=True)),
    "some lanes": (BLOCK[1, 4:8], Barrier(BarrierKind.WARP, 36, 4, 0xF0, predicated=True)),
    "one lane": (BLOCK[3, 31], Barrier(BarrierKind.WARP, 127, 1, 0x80000000, predicated=True)),
    "lanes of a CTA of one warp": (ONE_WARP[1:3], Barrier(BarrierKind.WARP, 8, 16, 0xFFFF00, predicated=True)),
    "two warps": (BLOCK[1:3], Barrier(BarrierKind.NAMED, 32, 64, bar_id=1, predicated=True)),
    "whole warps by halves": (HALVES[2:6], Barrier(BarrierKind.NAMED, 32, 64, bar_id=1, predicated=True)),
    "all CTAs": (CTAS, Barrier(BarrierKind.GRID)),
    "all threads of all CTAs": (GRID, Barrier(BarrierKind.GRID)),
    "all of a launch-provided grid": (Mesh((Topology("cta", G),), Layout((G,))), Barrier(BarrierKind.GRID)),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_barrier_follows_from_the_units(name):
    mesh, barrier = TABLE[name]
    assert classify_sync(mesh) == barrier


REFUSED = {
    "the same lanes of each warp": (BLOCK[:, 0:16], "64 threads from 0 to 111 are not one contiguous interval"),
    "every other thread": (threads((64,), (2,), 128), "not one contiguous interval"),
    "across warps": (HALVES[1:3], "threads 16 to 47 are neither within one warp nor whole warps"),
    "whole and half warps": (HALVES[0:3], "threads 0 to 47 are neither"),
    "some CTAs": (CTAS[0], "some of the CTAs cannot meet"),
    "some threads of all CTAs": (GRID[:, 0:32], "some of the CTAs cannot meet"),
    "a symbolic block": (Mesh((Topology("thread", G),), Layout((G,))), "symbolic size"),
    "another level": (Mesh((Topology("warp", 4),), Layout((4,))), "units of warp do not meet"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_units_that_no_barrier_joins_are_refused(name):
    mesh, words = REFUSED[name]
    with pytest.raises(VerifyError, match=words) as caught:
        classify_sync(mesh)
    assert caught.value.remedy


def test_each_site_has_a_named_barrier_of_its_own():
    ids = [classify_sync(BLOCK[0:2], before).bar_id for before in range(NAMED_BARRIERS)]
    assert ids == list(range(1, 16))
    with pytest.raises(ValueError, match="more than 15 barriers"):
        classify_sync(BLOCK[0:2], NAMED_BARRIERS)
    assert classify_sync(BLOCK, NAMED_BARRIERS).kind is BarrierKind.CTA


def test_masks_have_a_bit_for_each_participant_of_the_warp():
    for mesh in (BLOCK[2], HALVES[3], BLOCK[1, 4:8], ONE_WARP[1:3]):
        barrier = classify_sync(mesh)
        lanes = {unit % 32 for unit in participants(mesh)}
        assert {lane for lane in range(32) if barrier.mask >> lane & 1} == lanes
        assert participants(mesh) == list(range(barrier.base, barrier.base + barrier.count))
