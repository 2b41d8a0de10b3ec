"""The worked examples of the reference: canonical shape, attributes, strides and local shape, and what they mean."""

import itertools

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Call, Var
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.shard import (
    Layout,
    Mesh,
    MeshAxis,
    Placed,
    ShardLayout,
    Split,
    Topology,
    apply,
    is_per_unit,
    layout_from_sugar,
    make_mesh,
    shard_layout_local_shape,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type


def axes(mesh):
    return [MeshAxis(mesh, axis) for axis in range(mesh.rank)]


X, Y, T = axes(make_mesh((2, 4, 32), names=("x", "y", "t")))
ROW_W, ROW_T = axes(make_mesh((6, 32), names=("w", "t")))
(WARP,) = axes(make_mesh((4,), names=("w",)))
LANES = Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("quad", "group"))

CUBE = (Placed(2, (X,)), Placed(12, (Y,)), Placed(128, (T,)))
ROW = (1, Placed(1536, (ROW_W, ROW_T)))
TILE = (Placed(4, (WARP,)), 64)


def resharded(shape, source, destination, entries):
    """The type of a tensor of `shape` moved between memories under an author's layout."""
    x = Var("x", make_tensor_type(shape, "f32", source))
    return Call(Reshard(layout_from_sugar(entries), destination), (x,)).type


@pytest.mark.parametrize(
    ("shape", "source", "destination", "entries", "canonical", "attrs", "strides", "local"),
    [
        (
            *((2, 1536), "rmem", "gmem", CUBE, (2, 4, 3, 32, 4), (Split(0), Split(1), Split(3))),
            *((1536, 384, 128, 4, 1), (1, 1, 3, 1, 4)),
        ),
        (
            *((2, 1536), "gmem", "rmem", CUBE, (2, 4, 3, 32, 4), (Split(0), Split(1), Split(3))),
            *((0, 0, 4, 0, 1), (1, 1, 3, 1, 4)),
        ),
        ((1, 1536), "rmem", "gmem", ROW, (1, 6, 32, 8), (Split(1), Split(2)), (1536, 256, 8, 1), (1, 1, 1, 8)),
        ((1, 1536), "gmem", "rmem", ROW, (1, 6, 32, 8), (Split(1), Split(2)), (0, 0, 0, 1), (1, 1, 1, 8)),
        ((4, 64), "rmem", "smem", TILE, (4, 64), (Split(0),), (64, 1), (1, 64)),
        ((4, 64), "rmem", "gmem", TILE, (4, 64), (Split(0),), (64, 1), (1, 64)),
    ],
)
def test_written_layouts(shape, source, destination, entries, canonical, attrs, strides, local):
    type_ = resharded(shape, source, destination, entries)
    assert type_.shape == shape  # sharding never changes the logical shape
    assert type_.storage is StorageKind[destination.upper()]
    assert type_.layout.shape == canonical
    assert type_.layout.attrs == attrs
    assert type_.layout.layout.strides == strides
    assert shard_layout_local_shape(type_.layout) == local
    assert is_per_unit(type_.layout) == (destination == "rmem")


def start(sl, unit):
    """Where the unit's part starts in a shared buffer."""
    return sum(unit[m] * sl.layout.strides[a.axis] for m, a in enumerate(sl.attrs))


def walked(sl):
    """The offsets that a unit walks from its start, row-major over its local shape."""
    local = shard_layout_local_shape(sl)
    return [apply(Layout(local, sl.layout.strides), c) for c in itertools.product(*map(range, local))]


def test_a_thread_of_the_shared_buffer_starts_where_its_coordinate_says():
    sl = resharded((2, 1536), "rmem", "gmem", CUBE).layout
    for x, y, t in itertools.product(range(2), range(4), range(32)):
        assert start(sl, (x, y, t)) == 1536 * x + 384 * y + 4 * t
    assert walked(sl) == [128 * i + j for i in range(3) for j in range(4)]


def test_a_thread_that_owns_its_registers_counts_them_row_major():
    sl = resharded((2, 1536), "gmem", "rmem", CUBE).layout
    assert start(sl, (1, 3, 31)) == 0
    assert walked(sl) == list(range(12))


def test_a_row_gives_each_thread_eight_contiguous_elements():
    sl = resharded((1, 1536), "rmem", "gmem", ROW).layout
    assert [start(sl, (w, t)) for w in range(6) for t in range(32)] == list(range(0, 1536, 8))
    assert walked(sl) == list(range(8))


def test_warps_step_over_rows_of_a_shared_tile():
    sl = resharded((4, 64), "rmem", "smem", TILE).layout
    assert [start(sl, (w,)) for w in range(4)] == [0, 64, 128, 192]


FRAGMENTS = {
    "A": ((16, 16), "bf16", (2, 4, 2, 8, 2), (1, 2, 8, 16, 128), (Split(1), Split(3)), (2, 1, 2, 1, 2)),
    "B": ((16, 8), "bf16", (8, 2, 4, 2), (1, 8, 16, 64), (Split(2), Split(0)), (1, 2, 1, 2)),
    "C": ((16, 8), "f32", (2, 4, 8, 2), (1, 2, 8, 64), (Split(1), Split(2)), (2, 1, 1, 2)),
}


def ptx_elements(operand, lane):
    """The elements (as row-major indices) that a lane holds in mma.m16n8k16 (PTX ISA, matrix fragments)."""
    group, quad = lane // 4, lane % 4
    pairs = [(2 * quad + c, 8 * half) for half in range(2) for c in range(2)]
    if operand == "A":
        return {16 * (group + 8 * r) + column + k for r in range(2) for column, k in pairs}
    if operand == "B":
        return {8 * (row + k) + group for row, k in pairs}
    return {8 * (group + 8 * r) + 2 * quad + c for r in range(2) for c in range(2)}


@pytest.mark.parametrize("operand", FRAGMENTS)
def test_fragments_of_tensor_core_instructions(operand):
    shape, dtype, modes, strides, attrs, local = FRAGMENTS[operand]
    sl = ShardLayout(Layout(modes, strides), attrs, LANES)
    x = Var("x", make_tensor_type(shape, dtype, "smem"))
    type_ = Call(Reshard(sl, "rmem"), (x,)).type
    assert type_ == TensorType(shape, DType.from_name(dtype), sl, StorageKind.RMEM)  # strides are kept verbatim
    assert shard_layout_local_shape(type_.layout) == local
    assert len(walked(sl)) == (8 if operand == "A" else 4)
    for quad, group in itertools.product(range(4), range(8)):
        lane = apply(LANES.layout, (quad, group))
        held = {start(sl, (quad, group)) + offset for offset in walked(sl)}
        assert held == ptx_elements(operand, lane)


@pytest.mark.parametrize(
    ("strides", "fits"),
    [
        ((16, 1), True),
        ((1, 4), True),
        ((0, 1), True),  # each warp holds its row apart
        ((0, 2), True),
        ((0, 0), False),
        ((8, 1), False),
        ((1, 1), False),
    ],
)
def test_explicit_strides_give_each_element_a_place(strides, fits):
    sl = ShardLayout(Layout((4, 16), strides), (Split(0),), make_mesh((4,)))
    x = Var("x", make_tensor_type((4, 16), "f32", "gmem"))
    if fits:
        assert Call(Reshard(sl, "smem"), (x,)).type.layout == sl
    else:
        with pytest.raises(VerifyError, match="two elements into one place, expected an injective layout"):
            Call(Reshard(sl, "smem"), (x,))
