import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import NotProjectable
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    Mesh,
    Topology,
    apply,
    coalesce,
    complement,
    composed,
    composition,
    contains,
    flatten,
    image,
    is_injective,
    is_inverse_projectable,
    left_inverse,
    level_projection,
    make_mesh,
    project,
    right_inverse,
    size,
)

N = DimVar("N", 1, 100)
MODES = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 24)), max_size=3)


def layout(modes):
    return Layout(tuple(e for e, _ in modes), tuple(s for _, s in modes))


@st.composite
def projectable(draw, max_gap=3):
    """Layouts whose strides divide each other, in any order of modes."""
    modes, reached = [], 1
    for extent in draw(st.lists(st.integers(1, 4), max_size=3)):
        stride = reached * draw(st.integers(1, max_gap))
        modes.append((extent, stride))
        reached = reached if extent == 1 else extent * stride
    return layout(draw(st.permutations(modes)))


def values(a):
    return [apply(a, k) for k in range(size(a))]


@settings(deadline=None)
@given(MODES)
def test_coalescing_keeps_the_function(modes):
    a = layout(modes)
    short = coalesce(a)
    assert values(short) == values(a)
    assert short.rank <= max(a.rank, 1)
    assert coalesce(short) == short


@pytest.mark.parametrize(
    ("a", "expected"),
    [
        (Layout((2, 3), (1, 2)), Layout((6,), (1,))),
        (Layout((2, 1, 3), (1, 7, 2)), Layout((6,), (1,))),
        (Layout((2, 3), (3, 1)), Layout((2, 3), (3, 1))),
        (Layout(((2, 2), 3), ((4, 8), 16)), Layout((12,), (4,))),
        (Layout((2, 2), (0, 0)), Layout((4,), (0,))),
        (Layout((), ()), Layout((1,), (0,))),
        (Layout((2, 3)), Layout((6,), (1,))),
    ],
)
def test_coalesced_layouts(a, expected):
    assert coalesce(a) == expected


@settings(deadline=None)
@given(MODES)
def test_what_is_inverse_projectable_is_injective(modes):
    a = layout(modes)
    if is_inverse_projectable(a):
        assert is_injective(a)


@settings(deadline=None)
@given(projectable())
def test_strides_that_divide_each_other_are_inverse_projectable(a):
    assert is_inverse_projectable(a)


@pytest.mark.parametrize("a", [Layout((2,), (0,)), Layout((2, 2), (1, 3)), Layout((2, 2), (1, 1)), Layout((0,), (1,))])
def test_other_layouts_are_not(a):
    assert not is_inverse_projectable(a)
    for operation in (complement, left_inverse):
        with pytest.raises(NotProjectable, match="not inverse projectable"):
            operation(a)


@settings(deadline=None)
@given(projectable(), st.integers(1, 200))
def test_a_layout_and_its_complement_reach_each_index_once(a, cotarget):
    rest = complement(a, cotarget)
    both = Layout((*flatten(a.shape), *rest.shape), (*flatten(a.strides), *rest.strides))
    reached = sorted(values(both))
    assert reached == list(range(len(reached)))
    assert len(reached) >= cotarget
    assert len(reached) // size(a) == size(rest)


@pytest.mark.parametrize(
    ("a", "cotarget", "expected"),
    [
        (Layout((4,), (1,)), 24, Layout((6,), (4,))),
        (Layout((6,), (4,)), 24, Layout((4,), (1,))),
        (Layout((4, 6), (1, 4)), 24, Layout((1,), (0,))),
        (Layout((4,), (2,)), 24, Layout((2, 3), (1, 8))),
        (Layout((2, 4), (1, 6)), 24, Layout((3,), (2,))),
        (Layout((2, 2), (1, 6)), 24, Layout((3, 2), (2, 12))),
    ],
)
def test_complements(a, cotarget, expected):
    """The examples of CuTe's page on the layout algebra."""
    assert complement(a, cotarget) == expected


@settings(deadline=None)
@given(MODES)
def test_right_inverses(modes):
    a = layout(modes)
    inverse = right_inverse(a)
    assert [apply(a, apply(inverse, k)) for k in range(size(inverse))] == list(range(size(inverse)))


@settings(deadline=None)
@given(projectable(max_gap=1))
def test_compact_layouts_have_whole_right_inverses(a):
    assert size(right_inverse(a)) == size(a)


@settings(deadline=None)
@given(projectable())
def test_left_inverses(a):
    inverse = left_inverse(a)
    assert [apply(inverse, apply(a, k)) for k in range(size(a))] == list(range(size(a)))


@settings(deadline=None)
@given(MODES, st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12)), max_size=3))
def test_compositions_are_right_or_refused(outer_modes, inner_modes):
    outer, inner = layout(outer_modes), layout(inner_modes)
    try:
        result = composition(outer, inner)
    except NotProjectable:
        return
    assert max(values(inner)) < size(outer)
    assert values(result) == [apply(outer, index) for index in values(inner)]
    assert result.rank == len(inner_modes)


@settings(deadline=None)
@given(projectable(max_gap=1), st.data())
def test_the_inverse_undoes_a_layout_by_composition(a, data):
    inverse = left_inverse(a)
    assume(a.rank > 0)
    both = composition(inverse, a)
    assert values(both) == list(range(size(a)))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (Layout((20,), (2,)), Layout((5, 4), (4, 1)), Layout((5, 4), (8, 2))),
        (Layout((10, 2), (16, 4)), Layout((5, 4), (1, 5)), Layout((5, (2, 2)), (16, (80, 4)))),
        (Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1)), Layout(((2, 2), 3), ((24, 2), 8))),
        (Layout((4, 2), (1, 100)), Layout((2,), (4,)), Layout((2,), (100,))),
        (Layout((8,), (3,)), Layout((2, 2), (0, 1)), Layout((2, 2), (0, 3))),
    ],
)
def test_compositions(outer, inner, expected):
    """The examples of CuTe's page on the layout algebra, and two more."""
    assert composition(outer, inner) == expected


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (Layout((4, 2), (1, 100)), Layout((3,), (3,))),
        (Layout((4, 2), (1, 100)), Layout((3, 2), (1, 2))),
        (Layout((4, 2), (1, 100)), Layout((9,), (1,))),
        (Layout((4,), (1,)), Layout((5,), (1,))),
        (Layout((4,), (1,)), Layout((2,), (-1,))),
    ],
)
def test_what_is_no_layout_is_refused(outer, inner):
    with pytest.raises(NotProjectable, match="does not follow the modes"):
        composition(outer, inner)


def test_symbolic_layouts_are_refused():
    for operation in (coalesce, complement, right_inverse, left_inverse, is_inverse_projectable):
        with pytest.raises(NotProjectable, match="symbolic"):
            operation(Layout((N,), (1,)))
    for operation in (image, lambda s: project(s, 0), lambda s: contains(s, 0)):
        with pytest.raises(NotProjectable, match="symbolic"):
            operation(Layout((N,), (1,)))


# -- scopes


@settings(deadline=None)
@given(projectable(), st.integers(0, 9))
def test_project_is_the_inverse_of_the_scope(a, offset):
    scope = ComposedLayout(None, offset, a)
    ids = image(scope)
    assert list(ids) == sorted(offset + v for v in values(a))
    for index in range(max(ids) + 3):
        assert contains(scope, index) == (index in ids)
        if index in ids:
            assert apply(scope, project(scope, index)) == index
        else:
            with pytest.raises(NotProjectable, match=f"unit {index} is not in the scope"):
                project(scope, index)


@settings(deadline=None)
@given(MODES, st.integers(0, 5))
def test_projecting_is_right_or_refused(modes, offset):
    scope = ComposedLayout(None, offset, layout(modes))
    try:
        ids = image(scope)
    except NotProjectable:
        return
    assert ids == tuple(sorted({offset + v for v in values(scope.outer)}))
    assert all(apply(scope, project(scope, unit)) == unit for unit in ids)
    assert is_injective(scope)


def test_slices_of_a_mesh_are_contained_in_it():
    mesh = make_mesh((4, 8, 4), ("w", "g", "t"))
    part = mesh[2:4, :, 1]
    assert contains(mesh.layout, part.layout)
    assert not contains(part.layout, mesh.layout)
    assert contains(part.layout, mesh[3, :, 1].layout)
    assert not contains(part.layout, mesh[3, :, 2].layout)
    assert image(mesh[1].layout) == tuple(range(32, 64))
    assert project(part.layout, 65) == (0, 0)


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (ComposedLayout(Layout((8,), (1,)), 0, Layout((2,), (1,))), "no scope of a mesh"),
        (ComposedLayout(None, N, Layout((2,), (1,))), "no scope of a mesh"),
        (Layout((3, 2), (2, 3)), "interleaves its units"),
        (Layout((2, 2), (1, 1)), "interleaves its units"),
        (Layout((2,), (0,)), "interleaves its units"),
        (Layout((2,), (-1,)), "interleaves its units"),
        (Layout((0,), (1,)), "interleaves its units"),
    ],
)
def test_other_scopes_are_refused(scope, words):
    for operation in (image, lambda s: project(s, 0), lambda s: contains(s, 0)):
        with pytest.raises(NotProjectable, match=words):
            operation(scope)


CTA, THREAD = Topology("cta", 6), Topology("thread", 32)
BOTH = composed((Mesh((CTA,), Layout((2, 3)), ("a", "b")), Mesh((THREAD,), Layout((4, 8)), ("w", "l"))))


def test_a_mesh_is_projected_to_its_levels():
    assert level_projection(BOTH, "cta") == Mesh((CTA,), Layout((2, 3), (3, 1)), ("a", "b"))
    assert level_projection(BOTH, "thread") == BOTH
    symbolic = Mesh((Topology("cta", N), THREAD), Layout((N, 32), (32, 1)), ("c", "t"))
    assert level_projection(symbolic, "cta") == Mesh((Topology("cta", N),), Layout((N,), (1,)), ("c",))


def test_units_of_a_level_are_those_of_the_mesh_divided():
    below = level_projection(BOTH, "cta")
    for unit in range(6 * 32):
        assert project(below.layout, unit // 32) == project(BOTH.layout, unit)[:2]


def test_what_has_no_levels_is_refused():
    with pytest.raises(NotProjectable, match="no level 'warp'(.|\n)*cta, thread"):
        level_projection(BOTH, "warp")
    with pytest.raises(NotProjectable, match="slice"):
        level_projection(BOTH[0], "cta")
    crossed = Mesh((CTA, THREAD), Layout((6, 32), (1, 6)))
    with pytest.raises(NotProjectable, match="steps over parts"):
        level_projection(crossed, "cta")
