import math

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Local, Reshard
from tilefoundry.ir.samples import CTAS, GROUP, QUAD, THREADS, W, call
from tilefoundry.ir.shard import (
    Broadcast,
    Dynamic,
    Layout,
    MeshAxis,
    Partial,
    Placed,
    ShardLayout,
    Split,
    layout_from_sugar,
    make_mesh,
    shard_layout_local_shape,
)
from tilefoundry.ir.types import StorageKind, make_tensor_type

N = DimVar("N", 1, 100)
X, Y, T = (MeshAxis(make_mesh((2, 4, 32), names=("x", "y", "t")), axis) for axis in range(3))
ROW_W, ROW_T = (MeshAxis(make_mesh((6, 32), names=("w", "t")), axis) for axis in range(2))
WARP = MeshAxis(make_mesh((4, 32), names=("w", "l")), 0)


def var(shape, storage="gmem", layout=None, dtype="f32"):
    return Var("x", make_tensor_type(shape, dtype, storage, layout))


def resharded(shape, source, entries, storage):
    return call(Reshard(layout_from_sugar(entries), storage), var(shape, source)).type


BIG = ((2, 1536), (Placed(2, (X,)), Placed(12, (Y,)), Placed(128, (T,))), (1, 1, 3, 1, 4))
ROW = ((1, 1536), (1, Placed(1536, (ROW_W, ROW_T))), (1, 1, 1, 8))


@pytest.mark.parametrize(
    ("case", "source", "storage", "strides"),
    [
        (BIG, "rmem", "gmem", (1536, 384, 128, 4, 1)),
        (BIG, "gmem", "rmem", (0, 0, 4, 0, 1)),
        (ROW, "rmem", "gmem", (1536, 256, 8, 1)),
        (ROW, "gmem", "rmem", (0, 0, 0, 1)),
        (((4, 64), (Placed(4, (WARP,)), 64), (1, 64)), "rmem", "smem", (64, 1)),
        (((2, 4, 128), (2, Placed(4, (WARP,)), 128), (2, 1, 128)), "gmem", "rmem", (128, 0, 1)),
        (((4, 64), (Placed(4, (WARP,)), 64), (1, 64)), "rmem", "gmem", (64, 1)),
        (((4, 64), (Placed(4, (WARP,)), 64), (1, 64)), "umat", "rmem", (0, 1)),
        (((4, 64), (Placed(4, (WARP,)), 64), (1, 64)), "umat", "gmem", (64, 1)),
    ],
)
def test_strides_of_a_change_of_storage(case, source, storage, strides):
    shape, entries, local = case
    result = resharded(shape, source, entries, storage)
    assert result.shape == shape
    assert result.layout.layout.strides == strides
    assert shard_layout_local_shape(result.layout) == local


@pytest.mark.parametrize(
    ("storage", "held", "strides"),
    [
        ("rmem", (0, 1), (1, 0)),  # each unit's own part stays each unit's own
        ("gmem", (64, 1), (4, 1)),  # shared stays shared
        ("smem", (0, 1), (1, 0)),
        ("smem", (64, 1), (4, 1)),
    ],
)
def test_the_same_storage_keeps_the_form_of_the_source(storage, held, strides):
    source = ShardLayout(Layout((4, 64), held), (Split(0), Broadcast()), WARP.mesh)
    entries = (64, Placed(4, (WARP,)))
    moved = call(Reshard(layout_from_sugar(entries)), var((4, 64), storage, source)).type
    assert moved.layout.layout.strides == strides


@pytest.mark.parametrize(
    ("shape", "strides", "attrs"),
    [
        ((2, 4, 2, 8, 2), (1, 2, 8, 16, 128), (Split(1), Split(3))),
        ((8, 2, 4, 2), (1, 8, 16, 64), (Split(2), Split(0))),
        ((2, 4, 8, 2), (1, 2, 8, 64), (Split(1), Split(2))),
    ],
)
def test_explicit_strides_stay(shape, strides, attrs):
    mesh = make_mesh((4, 8))
    fragment = ShardLayout(Layout(shape, strides), attrs, mesh)
    assert call(Reshard(fragment, "rmem"), var((16, math.prod(shape) // 16), "smem")).type.layout == fragment


def test_plain_layouts():
    assert call(Reshard(Layout((64, 1)), "smem"), var((64, 1))).type.layout == Layout((64, 1), (1, 1))
    assert call(Reshard(Layout((64, 1)), "rmem"), var((64, 1))).type.layout == Layout((64, 1), (1, 0))
    assert call(Reshard(Layout((8, 8, 4)), "smem"), var((64, 4))).type.layout == Layout((64, 4), (4, 1))
    assert call(Reshard(Layout((64, 4), (1, 64)), "smem"), var((64, 4))).type.layout == Layout((64, 4), (1, 64))
    assert call(Reshard(Layout((N, 4)), "smem"), var((N, 4))).type.layout == Layout((N, 4), (4, 1))


def test_symbolic_axes_give_symbolic_strides():
    result = resharded((N, 8), "gmem", (N, Placed(8, (GROUP,))), "rmem")
    assert result.layout.layout.strides == (1, 0)
    tiles = resharded((CTAS.shape[0], N), "rmem", (Placed(CTAS.shape[0], (MeshAxis(CTAS, 0),)), N), "gmem")
    assert tiles.layout.layout.strides == (N, 1)


def test_partial_values_are_completed_never_made():
    held = ShardLayout(Layout((4, 64), (64, 1)), (Partial("sum"), Broadcast(), Broadcast()), THREADS)
    done = call(Reshard(layout_from_sugar((4, Placed(64, (QUAD,))))), var((4, 64), "rmem", held)).type
    assert not any(isinstance(a, Partial) for a in done.layout.attrs)
    assert call(Reshard(held), var((4, 64), "rmem", held)).type.layout == held
    for source in (None, ShardLayout(held.layout, (Broadcast(),) * 3, THREADS)):
        with pytest.raises(VerifyError, match=r"not P\(sum\) along mesh axis 'w'"):
            call(Reshard(held), var((4, 64), "rmem", source))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Reshard(), "neither a layout nor a storage"),
        (lambda: Reshard(storage="smem"), r"a storage change requires a layout \(gmem to smem\)"),
        (lambda: Reshard(Layout((64, 64)), "umat"), "umat is no destination"),
        (lambda: Reshard(Layout((64, 32)), "smem"), "does not hold as many elements"),
        (lambda: Reshard(Layout((N, 64)), "smem"), "cannot be proven to hold"),
        (lambda: Reshard(Layout((32, 128)), "smem"), "does not factor the axes"),
        (lambda: Reshard(Layout((8, 8, 64), (512, 64, 1)), "smem"), "explicit strides"),
        (
            lambda: Reshard(ShardLayout(Layout((64, 64)), (Split(0), Broadcast(), Broadcast()), THREADS), "rmem"),
            r"mode 0 of extent 64 (.|\n)*as large as its mesh axis",
        ),
        (
            lambda: Reshard(ShardLayout(Layout((32, 128)), (Split(0), Split(0), Broadcast()), THREADS), "rmem"),
            "split over mesh axes w, g",
        ),
    ],
)
def test_reshards_that_cannot_be_are_refused(make, words):
    with pytest.raises(VerifyError, match=words):
        call(make(), var((64, 64)))


def test_a_storage_that_is_the_sources_changes_nothing():
    assert call(Reshard(storage="gmem"), var((4,))).type == var((4,)).type
    with pytest.raises(TypeError, match="Layout or ShardLayout"):
        Reshard((64, 64), "smem")


def test_local_is_one_units_part():
    tile = resharded((64, 64), "gmem", (Placed(4, (W,)), 2, Placed(8, (GROUP,)), 8, Placed(4, (QUAD,)), 2), "rmem")
    part = call(Local(), Var("t", tile)).type
    assert (part.shape, part.storage) == ((2, 16), StorageKind.RMEM)
    assert part.layout == Layout((2, 16), (16, 1))
    strided = ShardLayout(Layout((4, 2, 8, 8), (0, 16, 0, 2)), (Split(0), Split(2), Broadcast()), THREADS)
    part = call(Local(), Var("t", make_tensor_type((64, 8), "f32", "rmem", strided))).type
    assert part.layout == Layout((2, 8), (16, 2))
    gaps = ShardLayout(Layout((2, 4, 4, 8), (64, 0, 8, 1)), (Split(1), Broadcast(), Broadcast()), THREADS)
    part = call(Local(), Var("t", make_tensor_type((32, 8), "f32", "rmem", gaps))).type
    assert part.layout == Layout(((2, 1, 4), 8), ((64, 0, 8), 1))
    with pytest.raises(VerifyError, match="spread over a mesh"):
        call(Local(), var((4,)))
    dynamic = ShardLayout(Layout((4,), (1,)), (Dynamic(), Broadcast(), Broadcast()), THREADS)
    with pytest.raises(VerifyError, match="Dynamic"):
        call(Local(), var((4,), "rmem", dynamic))
