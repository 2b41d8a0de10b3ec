import copy
import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.samples import CTAS, THREADS
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    Placed,
    Topology,
    ValueState,
    apply,
    axis_levels,
    composed,
    image,
    level_projection,
    make_mesh,
    project,
    states_consistent_positions,
)

G = DimVar("G", 1, 1 << 20)
CTA, THREAD = Topology("cta", 4), Topology("thread", 128)


def test_a_mesh_is_row_major_unless_it_says_otherwise():
    assert THREADS.layout == Layout((4, 8, 4), (32, 4, 1))
    assert apply(THREADS.layout, (3, 5, 2)) == 3 * 32 + 5 * 4 + 2
    assert Mesh((THREAD,), Layout((4, 8), (1, 4))).layout.strides == (1, 4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Topology("cta", None), "extent must be explicit"),
        (lambda: Topology("", 4), "non-empty"),
        (lambda: Topology("cta", 1.5), "int or a dim"),
        (lambda: Mesh(("cta",), Layout((4,))), "tuple of Topology"),
        (lambda: Mesh((CTA, CTA), Layout((4, 4))), "repeat"),
        (lambda: Mesh((CTA,), Layout((None, 4))), "every extent must be explicit, got None"),
        (lambda: Mesh([CTA], Layout((4,))), "tuple of Topology"),
        (lambda: Mesh((CTA,), (4,)), "layout must be a Layout"),
        (lambda: Topology("cta", True), "int or a dim"),
        (lambda: Mesh((CTA,), Layout((4,)), ("a", "b")), "2 names"),
        (lambda: Mesh((CTA,), Layout((2, 2)), ("a", "a")), "repeat"),
        (lambda: Mesh((CTA,), Layout((2, 2), (1, 1))), "injective"),
        (lambda: MeshAxis(THREADS, 3), "axis 3"),
        (lambda: THREADS.axis_index("q"), "no axis 'q'"),
    ],
)
def test_malformed_meshes_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


@pytest.mark.parametrize(
    ("levels", "shape", "owners"),
    [
        ((THREAD,), (4, 8, 4), (0, 0, 0)),
        ((CTA, THREAD), (2, 2, 4, 32), (0, 0, 1, 1)),
        ((CTA, THREAD), (4, 128), (0, 1)),
        ((CTA, THREAD), (4, 1, 128), (0, 0, 1)),
        ((CTA, THREAD), (4, 128, 1), (0, 1, 1)),
        ((Topology("cta", G), THREAD), (G, 4, 32), (0, 1, 1)),
        ((Topology("cta", 1), THREAD), (1, 128), (0, 1)),
    ],
)
def test_axes_are_matched_to_levels_from_the_end(levels, shape, owners):
    assert axis_levels(Mesh(levels, Layout(shape))) == owners


@pytest.mark.parametrize(
    ("levels", "shape"),
    [((CTA, THREAD), (8, 64)), ((THREAD,), (4, 8)), ((CTA, THREAD), (2, 128)), ((THREAD,), (256,))],
)
def test_axes_that_straddle_or_miss_a_level_are_refused(levels, shape):
    with pytest.raises(ValueError, match="do not fit the levels"):
        axis_levels(Mesh(levels, Layout(shape)))


def test_positions():
    assert states_consistent_positions(THREADS)
    assert states_consistent_positions(CTAS)
    assert not states_consistent_positions(Mesh((THREAD,), Layout((4, 8))))


def test_nested_scopes_compose_outermost_first():
    both = composed((CTAS, THREADS))
    assert [t.name for t in both.topologies] == ["cta", "thread"]
    assert both.names == ("c", "w", "g", "t")
    assert both.layout.strides == (128, 32, 4, 1)
    assert composed((THREADS,)) is THREADS
    with pytest.raises(ValueError, match="repeat"):
        composed((THREADS, THREADS))


def test_slices_keep_the_parents_strides():
    part = THREADS[1:3, 2]
    assert part.layout == ComposedLayout(None, 32 + 8, Layout((2, 4), (32, 1)))
    assert part.names == ("w", "t")
    assert THREADS[:].layout.shape == (4, 8, 4)


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple), st.data())
def test_a_slice_holds_the_units_of_its_window(shape, data):
    mesh = make_mesh(shape)
    windows = []
    for extent in shape:
        start = data.draw(st.integers(0, extent - 1))
        windows.append((start, data.draw(st.integers(start + 1, extent))))
    part = mesh[tuple(slice(a, b) for a, b in windows)]
    starts = [a for a, _ in windows]
    units = {}
    for c in itertools.product(*(range(b - a) for a, b in windows)):
        units[apply(mesh.layout, [x + a for x, a in zip(c, starts, strict=True)])] = c
    assert image(part.layout) == tuple(sorted(units))
    for unit, c in units.items():
        assert project(part.layout, unit) == c


def test_an_axis_of_symbolic_extent_is_sliced_as_a_whole_only():
    mesh = Mesh((Topology("cta", G), THREAD), Layout((G, 128), (128, 1)), ("c", "t"))
    assert mesh[:, 3:5].layout == ComposedLayout(None, 3, Layout((G, 2), (128, 1)))
    with pytest.raises(ValueError, match="axis 0 has the symbolic extent"):
        mesh[0]


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_a_composed_mesh_counts_the_units_of_both(outer, inner):
    a, b = make_mesh(outer, topology="cta"), make_mesh(inner, topology="thread")
    both = composed((a, b))
    assert states_consistent_positions(both)
    for ca in itertools.product(*map(range, outer)):
        for cb in itertools.product(*map(range, inner)):
            expected = apply(a.layout, ca) * b.size + apply(b.layout, cb)
            assert apply(both.layout, (*ca, *cb)) == expected
    above = level_projection(both, "cta")  # axes of extent 1 may count to either level
    assert tuple(e for e in above.shape if e != 1) == tuple(e for e in outer if e != 1)
    assert image(above.layout) == image(a.layout)
    assert level_projection(both, "thread") == both


def test_a_chain_of_scopes_is_composed_as_its_pairs_are():
    cluster = make_mesh((2,), ("k",), "cluster")
    three = composed((cluster, make_mesh((4,), ("c",), "cta"), THREADS))
    assert three.names == ("k", "c", "w", "g", "t")
    assert three.layout.strides == (512, 128, 32, 4, 1)
    assert level_projection(three, "cta") == composed((cluster, make_mesh((4,), ("c",), "cta")))
    with pytest.raises(ValueError, match="slice of a mesh cannot be composed"):
        composed((CTAS, THREADS[0]))
    with pytest.raises(ValueError, match="axis names repeat"):
        composed((make_mesh((4,), ("w",), "cta"), THREADS))


@pytest.mark.parametrize(
    "index", [slice(0, 4, 2), 4, slice(2, 2), slice(0, 5), "w", (0, 0, 0, 0), True, -1, slice(-1, 4)]
)
def test_bad_slices_are_refused(index):
    with pytest.raises((ValueError, TypeError)):
        THREADS[index]
    with pytest.raises(ValueError, match="sliced again"):
        THREADS[0][0]


def test_make_mesh():
    mesh = make_mesh((4, 32), names=("w", "l"))
    assert mesh.topologies == (Topology("thread", 128),)
    assert MeshAxis(mesh, 1).extent == 32
    assert MeshAxis(mesh, 1).name == "l"
    assert MeshAxis(make_mesh((4,)), 0).name == "0"


def test_axes_by_their_names():
    mesh = make_mesh((4, 32), ("w", "l"))
    assert mesh.w == MeshAxis(mesh, 0)
    assert (64 @ mesh.l) == Placed(64, (MeshAxis(mesh, 1),))
    assert (mesh.w @ Partial("sum")) == ValueState(MeshAxis(mesh, 0), Partial("sum"))
    single = make_mesh((128,))
    assert (64 @ single) == Placed(64, (MeshAxis(single, 0),))
    with pytest.raises(AttributeError, match="mesh has no axis 'z'") as caught:
        _ = mesh.z
    assert "its axes are: w, l" in str(caught.value)
    with pytest.raises(TypeError, match="2 axes cannot be placed on as a whole"):
        _ = 64 @ mesh
    assert copy.deepcopy(mesh) == pickle.loads(pickle.dumps(mesh)) == mesh
