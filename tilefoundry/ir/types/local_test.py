import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import (
    Broadcast,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardLayout,
    Split,
    Topology,
    canonical_shard_layout,
    composed,
    make_mesh,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType, UnitType, local_type_of, make_tensor_type

N = DimVar("N", 1, 100)
CTA, THREAD = Topology("cta", 6), Topology("thread", 32)
LEVELS = (CTA, THREAD)
BOTH = composed((Mesh((CTA,), Layout((2, 3)), ("a", "b")), Mesh((THREAD,), Layout((4, 8)), ("w", "l"))))
B = Broadcast()


def tensor(shape, attrs, mesh=BOTH, storage="gmem"):
    layout = canonical_shard_layout(shape, mesh, attrs)
    return TensorType(shape, DType.f32, layout, StorageKind[storage.upper()])


def local(type_, level):
    return local_type_of(type_, level=level, topologies=LEVELS)


@pytest.mark.parametrize(
    ("attrs", "cta", "thread"),
    [
        ((Split(0), B, B, B), (12, 48), (12, 48)),
        ((Split(0), Split(0), B, B), (4, 48), (4, 48)),
        ((Split(0), Split(1), B, B), (12, 16), (12, 16)),
        ((B, B, Split(0), Split(1)), (24, 48), (6, 6)),
        ((Split(0), B, Split(0), Split(1)), (12, 48), (3, 6)),
        ((Partial(), B, Split(0), B), (24, 48), (6, 48)),
        ((B, B, B, B), (24, 48), (24, 48)),
    ],
)
def test_splits_of_the_level_and_of_coarser_ones_divide(attrs, cta, thread):
    type_ = tensor((24, 48), attrs)
    assert local(type_, "cta") == make_tensor_type(cta, "f32")
    assert local(type_, "thread") == make_tensor_type(thread, "f32")


def test_plain_types_stay_and_tuples_are_projected_field_by_field():
    plain = make_tensor_type((N, 3), "bf16", "smem")
    assert local(plain, "cta") is plain
    split = tensor((24,), (Split(0), B, B, B), storage="rmem")
    assert local(TupleType((plain, split)), "cta") == TupleType((plain, make_tensor_type((12,), "f32", "rmem")))
    assert local(UnitType(), "cta") == UnitType()


def test_a_slice_of_a_mesh_divides_by_its_own_units():
    part = make_mesh((4, 8), ("w", "l"))[2:4]
    assert local(tensor((24, 48), (Split(0), Split(1)), part), "thread").shape == (12, 6)
    assert local(tensor((24, 48), (Split(0), Split(1)), part), "cta").shape == (24, 48)


def test_symbolic_axes():
    assert local(tensor((N, 48), (B, B, B, Split(1))), "thread").shape == (N, 6)
    by_launch = Mesh((Topology("cta", N),), Layout((N,)), ("c",))
    assert local(tensor((N, 48), (Split(0),), by_launch), "cta").shape == (1, 48)
    whole = ShardLayout(Layout((N, 48), (48, 1)), (Split(0),), make_mesh((4,), topology="thread"))
    type_ = TensorType((N, 48), DType.f32, whole, StorageKind.GMEM)
    with pytest.raises(WrongValueError, match=r"extent N is split over 4 units(.|\n)*bind the axis before local"):
        local(type_, "thread")
    assert local(type_, "cta").shape == (N, 48)


@pytest.mark.parametrize(
    ("layout", "level", "words"),
    [
        (Layout((10, 48)), "thread", r"extent 10 does not divide into 4 units(.|\n)*\(ceildiv\(10, 4\), 4\)"),
        (Layout((8, 60)), "thread", "do not follow the axes"),
        (Layout((10, 48)), "warp", r"no level 'warp'(.|\n)*cta, thread"),
    ],
)
def test_what_has_no_local_type_is_refused(layout, level, words):
    sl = ShardLayout(layout, (Split(0),), make_mesh((4,)))
    with pytest.raises(WrongValueError, match=words):
        local(TensorType((10, 48), DType.f32, sl, StorageKind.GMEM), level)


def test_unknown_levels_and_dynamic_placements_are_refused():
    warps = ShardLayout(Layout((8,)), (Split(0),), make_mesh((4,), topology="warp"))
    with pytest.raises(WrongValueError, match="the mesh has the level 'warp'"):
        local(TensorType((8,), DType.f32, warps, StorageKind.GMEM), "cta")
    moving = ShardLayout(Layout((8,)), (Dynamic(),), make_mesh((4,)))
    type_ = TensorType((8,), DType.f32, moving, StorageKind.GMEM)
    with pytest.raises(WrongValueError, match="Dynamic placement has no local type"):
        local(type_, "thread")
    assert local(type_, "cta").shape == (8,)


@settings(deadline=None)
@given(st.lists(st.sampled_from([B, Split(0), Split(1)]), min_size=4, max_size=4), st.integers(1, 3), st.integers(1, 3))
def test_the_local_parts_of_all_units_are_the_whole(attrs, a, b):
    shape = (192 * a, 192 * b)
    type_ = tensor(shape, tuple(attrs))
    for level, axes in (("cta", 2), ("thread", 4)):
        units = math.prod(e for e, attr in zip(BOTH.shape[:axes], attrs, strict=False) if isinstance(attr, Split))
        assert math.prod(local(type_, level).shape) * units == math.prod(shape)
