import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.samples import CTAS, GROUP, QUAD, THREADS, W
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    MeshAxis,
    P,
    Partial,
    Placed,
    ShardLayout,
    Split,
    canonical_shard_layout,
    is_injective,
    is_per_unit,
    layout_from_sugar,
    make_mesh,
    per_unit_strides,
    shard_layout_local_shape,
    shared_strides,
)

N = DimVar("N", 1, 1000)


def units(mesh):
    return itertools.product(*(range(e) for e in mesh.shape))


def logical(sl, unit, local):
    """Where a unit's local coordinate lies in the canonical shape."""
    coordinate = list(local)
    for axis, attr in enumerate(sl.attrs):
        if isinstance(attr, Split):
            coordinate[attr.axis] += unit[axis]
    return tuple(coordinate)


@st.composite
def placements(draw):
    """A shape, a mesh, and attributes over logical axes that divide it."""
    mesh = make_mesh(draw(st.lists(st.sampled_from((1, 2, 3, 4)), min_size=1, max_size=3).map(tuple)))
    rank = draw(st.integers(1, 3))
    attrs = [draw(st.one_of(st.just(Broadcast()), st.integers(0, rank - 1).map(Split))) for _ in range(mesh.rank)]
    shape = []
    for axis in range(rank):
        over = [mesh.shape[m] for m, a in enumerate(attrs) if a == Split(axis)]
        shape.append(math.prod(over) * draw(st.integers(1, 3)))
    return tuple(shape), mesh, tuple(attrs)


@settings(deadline=None)
@given(placements())
def test_the_parts_of_the_units_make_up_the_tensor(placement):
    shape, mesh, attrs = placement
    sl = canonical_shard_layout(shape, mesh, attrs)
    local = shard_layout_local_shape(sl)
    copies = math.prod(mesh.shape[m] for m, a in enumerate(sl.attrs) if not isinstance(a, Split))
    assert math.prod(sl.shape) == math.prod(shape)
    assert math.prod(mesh.shape) * math.prod(local) == math.prod(shape) * copies


@settings(deadline=None)
@given(placements())
def test_every_element_has_an_owner_and_copies_only_by_broadcast(placement):
    shape, mesh, attrs = placement
    sl = canonical_shard_layout(shape, mesh, attrs)
    local = shard_layout_local_shape(sl)
    owners = {}
    for unit in units(mesh):
        for crd in itertools.product(*map(range, local)):
            owners.setdefault(logical(sl, unit, crd), set()).add(
                tuple(u for m, u in enumerate(unit) if isinstance(sl.attrs[m], Split))
            )
    assert len(owners) == math.prod(shape)
    assert all(len(o) == 1 for o in owners.values())


@settings(deadline=None)
@given(placements())
def test_local_after_global_is_the_identity_in_both_forms_of_storage(placement):
    shape, mesh, attrs = placement
    sl = canonical_shard_layout(shape, mesh, attrs)
    local = shard_layout_local_shape(sl)
    for strides, shared in ((shared_strides(sl), True), (per_unit_strides(sl), False)):
        assert is_injective(Layout(local, strides))
        stored = {}
        for unit in units(mesh):
            # the runtime's rule: base + sum of coordinate * stride over split mesh axes (runtime spec 2.10.2)
            base = sum(unit[m] * strides[a.axis] for m, a in enumerate(sl.attrs) if isinstance(a, Split))
            engine = None if shared else unit
            for crd in itertools.product(*map(range, local)):
                at = base + sum(c * s for c, s in zip(crd, strides, strict=True))
                assert stored.setdefault((engine, at), logical(sl, unit, crd)) == logical(sl, unit, crd)
        if shared:
            assert len(stored) == math.prod(shape)
        else:
            assert len(stored) == math.prod(mesh.shape) * math.prod(local)


X, Y, T = (MeshAxis(make_mesh((2, 4, 32), names=("x", "y", "t")), axis) for axis in range(3))
ROW_W, ROW_T = (MeshAxis(make_mesh((6, 32), names=("w", "t")), axis) for axis in range(2))


@pytest.mark.parametrize(
    ("entries", "shape", "shared", "per_unit", "local"),
    [
        (
            (Placed(2, (X,)), Placed(12, (Y,)), Placed(128, (T,))),
            (2, 4, 3, 32, 4),
            (1536, 384, 128, 4, 1),
            (0, 0, 4, 0, 1),
            (1, 1, 3, 1, 4),
        ),
        ((1, Placed(1536, (ROW_W, ROW_T))), (1, 6, 32, 8), (1536, 256, 8, 1), (0, 0, 0, 1), (1, 1, 1, 8)),
        (
            (Placed(4, (W,)), 2, Placed(8, (GROUP,)), 8, Placed(4, (QUAD,)), 2),
            (4, 2, 8, 8, 4, 2),
            (1024, 512, 64, 8, 2, 1),
            (0, 16, 0, 2, 0, 1),
            (1, 2, 1, 8, 1, 2),
        ),
    ],
)
def test_worked_examples(entries, shape, shared, per_unit, local):
    sl = layout_from_sugar(entries)
    assert sl.shape == shape
    assert sl.layout.strides is None
    assert shared_strides(sl) == shared
    assert per_unit_strides(sl) == per_unit
    assert shard_layout_local_shape(sl) == local


@pytest.mark.parametrize(
    ("mesh", "shape", "strides", "attrs", "local", "registers"),
    [
        (make_mesh((4, 8)), (2, 4, 2, 8, 2), (1, 2, 8, 16, 128), (Split(1), Split(3)), (2, 1, 2, 1, 2), 8),
        (make_mesh((4, 8)), (8, 2, 4, 2), (1, 8, 16, 64), (Split(2), Split(0)), (1, 2, 1, 2), 4),
        (make_mesh((4, 8)), (2, 4, 8, 2), (1, 2, 8, 64), (Split(1), Split(2)), (2, 1, 1, 2), 4),
    ],
)
def test_mma_fragments(mesh, shape, strides, attrs, local, registers):
    sl = ShardLayout(Layout(shape, strides), attrs, mesh)
    assert shard_layout_local_shape(sl) == local
    assert math.prod(local) == registers
    assert not is_per_unit(sl)


def test_local_shapes_of_the_wider_rule():
    mesh = make_mesh((4, 32))
    assert shard_layout_local_shape(ShardLayout(Layout((128,)), (Split(0), Split(0)), mesh)) == (1,)
    assert shard_layout_local_shape(ShardLayout(Layout((128,)), (Broadcast(), Partial()), mesh)) == (128,)
    with pytest.raises(ValueError, match="does not divide"):
        shard_layout_local_shape(ShardLayout(Layout((6,)), (Split(0), Broadcast()), mesh))
    symbolic = ShardLayout(Layout((N,)), (Split(0), Broadcast()), mesh)
    with pytest.raises(ValueError, match=r"split over 4 units(.|\n)*bind symbolic dimensions"):
        shard_layout_local_shape(symbolic)
    whole = ShardLayout(Layout((N, 4)), (Split(1), Broadcast()), mesh)
    assert shard_layout_local_shape(whole, require_static=False) == (N, 1)
    with pytest.raises(ValueError, match="not static after sharding"):
        shard_layout_local_shape(whole)
    assert shard_layout_local_shape(ShardLayout(Layout((CTAS.shape[0],)), (Split(0),), CTAS)) == (1,)


def test_symbolic_axes():
    B = Broadcast()
    sl = canonical_shard_layout((CTAS.shape[0], 8), CTAS, (Split(0),))
    assert (sl.shape, sl.layout.strides) == ((CTAS.shape[0], 8), None)
    assert canonical_shard_layout((N * 4, 8), THREADS, (Split(0), B, B)).shape == (4, N, 8)
    # not known to divide: whole, and without local extent until it is bound
    whole = canonical_shard_layout((8, N), THREADS, (Split(1), Split(0), B))
    assert (whole.shape, whole.attrs) == ((8, N), (Split(1), Split(0), B))
    with pytest.raises(ValueError, match=r"extent N is split over 4 units(.|\n)*bind symbolic dimensions"):
        shard_layout_local_shape(whole)
    with pytest.raises(ValueError, match="cannot prove that extent N divides into 32 units"):
        canonical_shard_layout((N, 8), THREADS, (Split(0), Split(0), B))


def test_strides_are_row_major_when_every_mode_is_static():
    assert canonical_shard_layout((8, 6), make_mesh((4,)), (Split(0),)).layout == Layout((4, 2, 6), (12, 6, 1))
    assert canonical_shard_layout((), make_mesh((4,)), (Broadcast(),)).layout == Layout((), ())


def test_sugar():
    assert layout_from_sugar((64, 64)) == Layout((64, 64))
    sl = layout_from_sugar((Placed(64, (QUAD,)), 64), ((W, P("sum")),))
    assert sl.shape == (4, 16, 64)
    assert sl.attrs == (Partial("sum"), Broadcast(), Split(0))
    both = layout_from_sugar((Placed(CTAS.shape[0], (MeshAxis(CTAS, 0),)), Placed(4, (W,))), meshes=(CTAS, THREADS))
    assert both.mesh.names == ("c", "w", "g", "t")
    reordered = layout_from_sugar(
        (Placed(4, (W,)), Placed(CTAS.shape[0], (MeshAxis(CTAS, 0),))), meshes=(CTAS, THREADS)
    )
    assert reordered.attrs[:2] == (Split(1), Split(0))
    assert layout_from_sugar((Placed(4, (W,)), 2), strides=(3, 1)).layout.strides == (3, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layout_from_sugar((Placed(6, (W,)),)), "6 does not divide into 4"),
        (lambda: layout_from_sugar((Placed(4, (W,)), Placed(4, (W,)))), "'w' is named twice"),
        (lambda: layout_from_sugar((Placed(4, (W,)),), ((W, P("sum")),)), "'w' is named twice"),
        (lambda: layout_from_sugar((Placed(8, (W,)),), strides=(1,)), "one stride is not enough"),
        (lambda: layout_from_sugar((4, 4), strides=(1,)), "1 strides for 2 entries"),
        (lambda: ShardLayout(Layout((4,)), (Split(0),), THREADS), "1 attributes"),
        (lambda: ShardLayout(Layout((4,)), (Split(1), Broadcast(), Broadcast()), THREADS), "names no mode"),
        (lambda: Partial("prod"), "must be one of"),
        (lambda: Split(-1), "negative"),
        (lambda: Split(True), "plain int"),
        (lambda: canonical_shard_layout((4,), THREADS, (Split(1), Broadcast(), Broadcast())), "names no axis"),
    ],
)
def test_malformed_placements_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()
