"""Swizzles: permutations of their period, as CuTe's by definition."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.shard import ComposedLayout, Layout, Swizzle, apply, is_injective


@pytest.mark.parametrize(
    "swizzle", [Swizzle(3, 3, 3), Swizzle(2, 3, 3), Swizzle(1, 4, 3), Swizzle(0, 4, 3), Swizzle(2, 0, 5)], ids=str
)
def test_it_permutes_each_period(swizzle: Swizzle) -> None:
    n = swizzle.period
    assert sorted(map(swizzle, range(n))) == list(range(n))
    assert all(swizzle(i + n) == swizzle(i) + n for i in range(n))
    for i in range(n):
        source = (i >> (swizzle.base + swizzle.shift)) % (1 << swizzle.bits)
        assert swizzle(i) == i ^ (source << swizzle.base)


def test_a_layout_is_seen_through_it() -> None:
    layout = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    assert [apply(layout, (r, 0)) for r in range(8)] == [64 * r + 8 * r for r in range(8)]
    assert layout.shape == (8, 64) and is_injective(layout)
    assert str(layout) == "Swizzle<3,3,3> o 0 o (8,64):(64,1)"


@pytest.mark.parametrize(
    ("fields", "words"), [((-1, 3, 3), "bits must be an int of 0"), ((3, True, 3), "base"), ((4, 3, 3), "shift 3")]
)
def test_what_is_none_is_refused(fields: tuple[int, int, int], words: str) -> None:
    with pytest.raises(WrongValueError, match=words):
        Swizzle(*fields)


def test_a_swizzle_alone_is_no_layout() -> None:
    with pytest.raises(WrongValueError, match="at least one layout"):
        ComposedLayout(Swizzle(3, 3, 3), 0, None)
