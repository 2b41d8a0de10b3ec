import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import NotProjectable
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import (
    EMPTY_LAYOUT,
    ComposedLayout,
    Layout,
    apply,
    c_order_strides,
    cosize,
    crd2idx,
    flatten,
    group_modes,
    idx2crd,
    is_injective,
    known_injective,
    natural_strides,
    size,
    try_c_order_strides,
)

N = DimVar("N", 1, 100)
SHAPES = st.lists(st.integers(1, 5), min_size=0, max_size=4).map(tuple)


def test_omitted_strides_are_column_major_in_the_algebra_and_row_major_in_tensors():
    assert natural_strides((2, (3, 4), 5)) == (1, (2, 6), 24)
    assert c_order_strides((2, 3, 4)) == (12, 4, 1)
    assert try_c_order_strides((2, N)) is None
    assert try_c_order_strides(()) == ()


def test_symbolic_strides_are_products():
    strides = c_order_strides((2, N, 4))
    assert strides[1:] == (4, 1)
    assert flatten(Layout((2, N, 4), strides).strides)[0] == strides[0]


@settings(deadline=None)
@given(SHAPES)
def test_row_major_layouts_reach_every_element_once(shape):
    layout = Layout(shape, c_order_strides(shape))
    count = size(layout)
    assert sorted(apply(layout, k) for k in range(count)) == list(range(count))
    assert is_injective(layout)
    assert cosize(layout) == count


@settings(deadline=None)
@given(SHAPES, st.data())
def test_coordinates_and_indices_are_inverse(shape, data):
    layout = Layout(shape)
    k = data.draw(st.integers(0, size(layout) - 1))
    assert crd2idx(idx2crd(k, shape), layout) == k


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), max_size=3))
def test_injectivity_agrees_with_enumeration(modes):
    layout = Layout(tuple(e for e, _ in modes), tuple(s for _, s in modes))
    indices = [
        sum(c * s for c, (_, s) in zip(crd, modes, strict=True))
        for crd in itertools.product(*(range(e) for e, _ in modes))
    ]
    assert is_injective(layout) == (len(set(indices)) == len(indices))


def test_composed_layouts_add_their_offset_between_the_two():
    layout = ComposedLayout(None, 5, Layout((2, 3), (10, 1)))
    assert layout.shape == (2, 3)
    assert apply(layout, (1, 2)) == 17
    swizzled = ComposedLayout(Layout((4, 4), (4, 1)), 1, Layout((2,), (2,)))
    assert [apply(swizzled, k) for k in range(2)] == [4, 12]
    assert swizzled.shape == (2,)


@pytest.mark.parametrize(
    ("shape", "strides", "kind"),
    [
        ((2, 3), (1,), ValueError),
        ((2, (3, 4)), (1, 2), ValueError),
        ((-1,), None, ValueError),
        ((4, None), None, ValueError),
        (("a",), None, TypeError),
        ((True,), None, TypeError),
        ((2,), (1.5,), TypeError),
    ],
)
def test_malformed_layouts_are_refused(shape, strides, kind):
    with pytest.raises(kind):
        Layout(shape, strides)


@pytest.mark.parametrize(
    ("layout", "coordinate", "index"),
    [
        (Layout(((2, 3), 4)), (1, 2, 3), 1 + 2 * 2 + 3 * 6),
        (Layout(((2, 3), 4)), ((1, 2), 3), 1 + 2 * 2 + 3 * 6),
        (Layout(((2, 3), 4)), (5, 3), 1 + 2 * 2 + 3 * 6),
        (Layout(((2, 3), 4), ((10, 100), 1)), (3, 2), 10 + 100 + 2),
        (Layout(((2, (3, 2)), 4), ((1, (2, 6)), 12)), ((1, 4), 0), 1 + 2 * 1 + 6 * 1),
        (Layout(((2, 3),), ((3, 1),)), (4,), 2),
        (Layout((), ()), (), 0),
    ],
)
def test_coordinates_may_be_flat_nested_or_counted_through(layout, coordinate, index):
    assert crd2idx(coordinate, layout) == index
    assert apply(layout, coordinate) == index


@st.composite
def nested(draw, depth=2):
    """A nested shape and a coordinate of it, nested likewise."""
    parts = [
        draw(nested(depth - 1))
        if depth and draw(st.booleans())
        else (lambda e: (e, draw(st.integers(0, e - 1))))(draw(st.integers(1, 4)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return tuple(s for s, _ in parts), tuple(c for _, c in parts)


@settings(deadline=None)
@given(nested())
def test_each_form_of_a_coordinate_has_one_index(both):
    shape, coordinate = both
    layout = Layout(shape)
    linear = [crd2idx(c, Layout(s)) if isinstance(c, tuple) else c for s, c in zip(shape, coordinate, strict=True)]
    index = crd2idx(coordinate, layout)
    assert crd2idx(flatten(coordinate), layout) == index
    if len(linear) != len(flatten(shape)):
        assert crd2idx(linear, layout) == index
    assert idx2crd(index, shape) == flatten(coordinate)


@pytest.mark.parametrize(
    ("coordinate", "words"),
    [
        ((1,), r"1 entries for the 2 modes of \(\(2,3\),4\)"),
        ((1, 2, 3, 0), "4 entries for the 2 modes"),
        (((1, 2), (3,)), "stands for the mode 4"),
        (((1, 2, 3), 0), "3 entries for the 2 modes"),
        ((6, 0), "outside the shape"),
    ],
)
def test_other_coordinates_are_refused(coordinate, words):
    with pytest.raises(ValueError, match=words):
        crd2idx(coordinate, Layout(((2, 3), 4)))


def test_injectivity_of_large_layouts_is_not_enumerated():
    assert not is_injective(Layout((1 << 20, 1 << 20), (1, 1)))
    assert not is_injective(Layout((1 << 20,), (0,)))
    assert is_injective(Layout((1 << 20, 1 << 20), (1 << 20, 1)))
    assert is_injective(Layout((0, 1 << 30), (0, 0)))
    assert known_injective(Layout((N, 4), (0, 1)))
    assert known_injective(ComposedLayout(None, 5, Layout((2, 3), (3, 1))))
    assert not known_injective(ComposedLayout(None, 5, Layout((2, 3), (1, 1))))


def test_scalars_and_symbols():
    assert (size(EMPTY_LAYOUT), cosize(EMPTY_LAYOUT), str(EMPTY_LAYOUT)) == (1, 1, "():()")
    assert Layout((N * 2 // 2,)) == Layout((N,))
    with pytest.raises(NotProjectable, match="symbolic"):
        cosize(Layout((N,), (1,)))
    with pytest.raises(ValueError):
        ComposedLayout(None, 0, None)


@pytest.mark.parametrize(
    ("modes", "shape", "groups"),
    [
        ((4, 2, 8, 8, 4, 2), (64, 64), ((0, 1, 2), (3, 4, 5))),
        ((4, 2, 8, 1), (64, 1), ((0, 1, 2), (3,))),
        ((1, 6, 32, 8), (1, 1536), ((0,), (1, 2, 3))),
        ((8, 4, 2), (64,), ((0, 1, 2),)),
        ((64, 64), (64, 1, 64), ((0,), (), (1,))),
        ((64, 1, 1), (64, 1), ((0,), (1, 2))),
        ((1, 2), (2, 1), ((0, 1), ())),
        ((4, 6), (6, 4), None),
        ((4,), (2,), None),
        ((2,), (4,), None),
        ((N, 4), (N, 4), ((0,), (1,))),
        ((2, N), (N * 2,), ((0, 1),)),
        ((N,), (4,), None),
        ((), (), ()),
        ((1,), (), None),
    ],
)
def test_modes_are_grouped_by_axis(modes, shape, groups):
    assert group_modes(modes, shape) == groups
