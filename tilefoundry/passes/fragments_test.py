"""How rules spread values between operands and a result whose layout is given (lower/fragments.py)."""

import pytest

from tilefoundry.ir.samples import GROUP, QUAD, W, held
from tilefoundry.ir.shard import Broadcast, Placed, Split
from tilefoundry.passes.lower.fragments import Mode, alike, extent_of, modes_of, spread_over, whole

QUADS = Mode(4, 2)
ACCUMULATOR = (Mode(8), QUADS, Mode(2))


def test_modes_of_a_fragment_leave_out_those_of_extent_one():
    fragment = held((64, 1, 16), Placed(4, (W,)), 2, Placed(8, (GROUP,)), 1, 2, Placed(4, (QUAD,)), 2).type
    assert modes_of(fragment) == ((Mode(4, 0), Mode(2), Mode(8, 1)), (), (Mode(2), QUADS, Mode(2)))


def test_a_layout_of_modes_has_each_units_part_apart():
    fragment = held((64, 1, 16), Placed(4, (W,)), 2, Placed(8, (GROUP,)), 1, 2, Placed(4, (QUAD,)), 2).type
    layout = spread_over(fragment.layout.mesh, *modes_of(fragment))
    assert layout.shape == (4, 2, 8, 1, 2, 4, 2)
    assert layout.layout.strides == (0, 4, 0, 0, 2, 0, 1)
    assert layout.attrs == (Split(0), Split(2), Split(5))
    assert spread_over(fragment.layout.mesh, whole(6)).attrs == (Broadcast(),) * 3


@pytest.mark.parametrize(
    ("modes", "extent", "expected"),
    [
        (ACCUMULATOR, 128, (Mode(16), QUADS, Mode(2))),
        (ACCUMULATOR, 100, (Mode(13), QUADS, Mode(2))),
        ((QUADS, Mode(2)), 64, (Mode(8), QUADS, Mode(2))),
        ((Mode(32, 0), Mode(4)), 32, (Mode(32, 0),)),
        ((Mode(256, 0),), 32, (Mode(32),)),
        ((), 7, (Mode(7),)),
    ],
)
def test_axes_spread_like_another(modes, extent, expected):
    assert alike(modes, extent) == expected and extent <= extent_of(expected) <= 2 * extent


@pytest.mark.parametrize(
    ("modes", "extent", "expected"),
    [(ACCUMULATOR, 24, (Mode(3), QUADS, Mode(2))), (ACCUMULATOR, 12, (Mode(3), QUADS)), (ACCUMULATOR, 7, (Mode(7),))],
)
def test_axes_of_an_exact_extent(modes, extent, expected):
    assert alike(modes, extent, exact=True) == expected and extent_of(expected) == extent
