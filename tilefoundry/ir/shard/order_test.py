"""Fragments whose modes stand in another order than the axes."""

import pytest

from tilefoundry.ir.atoms import ATOMS
from tilefoundry.ir.shard import Broadcast, Layout, Mesh, ShardLayout, Split, Topology, in_axis_order

MESH = Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("q", "g"))
ATOM = ATOMS["SM80_16x8x16_F32F16F16F32_TN"]


@pytest.mark.parametrize(
    ("fragment", "modes", "attrs", "strides"),
    [
        (ATOM.lhs, (2, 8, 2, 4, 2), (Split(3), Split(1)), (4, 0, 2, 0, 1)),
        (ATOM.rhs, (2, 4, 2, 8), (Split(1), Split(3)), (2, 0, 1, 0)),
        (ATOM.acc, (2, 8, 4, 2), (Split(2), Split(1)), (2, 0, 0, 1)),
    ],
    ids=["lhs", "rhs", "acc"],
)
def test_instruction_fragments(fragment, modes, attrs, strides):
    ordered = in_axis_order(ShardLayout(fragment.layout, fragment.attrs, MESH), fragment.shape)
    assert (ordered.shape, ordered.attrs, ordered.layout.strides) == (modes, attrs, strides)
    assert in_axis_order(ordered, fragment.shape) is ordered


def test_results_of_elementwise_ops_on_an_accumulator():
    scaled = ShardLayout(Layout((2, 4, 8, 2), (2, 0, 0, 1)), ATOM.acc.attrs, MESH)
    assert in_axis_order(scaled, (16, 8)) == in_axis_order(ShardLayout(ATOM.acc.layout, ATOM.acc.attrs, MESH), (16, 8))


@pytest.mark.parametrize(
    ("modes", "strides", "shape"),
    [
        ((4, 8, 2), (0, 0, 1), (32, 2)),  # in order already
        ((4, 8, 2), (1, 64, 4), (32, 2)),  # steps that leave gaps
        ((4, 8, 2), (1, 4, 32), (5, 2)),  # no factors of the axes
        ((4, 8), None, (32,)),
    ],
)
def test_others_stay(modes, strides, shape):
    sl = ShardLayout(Layout(modes, strides), (Split(0), Broadcast()), MESH)
    assert in_axis_order(sl, shape) is sl
