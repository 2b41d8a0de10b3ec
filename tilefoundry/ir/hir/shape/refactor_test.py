"""Reshape moves nothing: each unit holds the same elements, at the same offsets, under the old and the new shape."""

import itertools
import random
from math import prod

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.samples import call
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    ShardLayout,
    Split,
    make_mesh,
    per_unit_strides,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.types import make_tensor_type


def holdings(sl: ShardLayout) -> dict[int, tuple[tuple[int, ...], int]]:
    """For each element, in row-major order of the modes, the unit that holds it and its offset.

    A split mode is distributed in blocks; the offset of an element in a block counts from that of the block.
    """
    units = [prod(sl.mesh.shape[axis] for axis in sl.splitters(k)) for k in range(sl.rank)]
    found = {}
    for element, point in enumerate(itertools.product(*(range(e) for e in sl.shape))):
        unit = [0] * sl.mesh.rank
        offset = 0
        for k, (coordinate, stride) in enumerate(zip(point, sl.layout.strides, strict=True)):
            place = coordinate // (sl.shape[k] // units[k])
            for axis in reversed(sl.splitters(k)):
                place, unit[axis] = divmod(place, sl.mesh.shape[axis])
            offset += coordinate * stride
        found[element] = (tuple(unit), offset)
    return found


def shapes_of(numel: int, rank: int) -> list[tuple[int, ...]]:
    if rank == 1:
        return [(numel,)]
    return [(n, *rest) for n in range(1, numel + 1) if numel % n == 0 for rest in shapes_of(numel // n, rank - 1)]


def random_layout(rng: random.Random) -> ShardLayout:
    modes = [rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.randint(1, 4))]
    mesh_shape = tuple(rng.choice((1, 2, 3)) for _ in range(2))
    attrs = []
    for extent in mesh_shape:
        fitting = [k for k, mode in enumerate(modes) if mode == extent and Split(k) not in attrs]
        attrs.append(Split(rng.choice(fitting)) if fitting and rng.random() < 0.8 else Broadcast())
    sl = ShardLayout(Layout(tuple(modes)), tuple(attrs), make_mesh(mesh_shape))
    return with_strides(sl, (per_unit_strides if rng.random() < 0.5 else shared_strides)(sl))


@pytest.mark.parametrize("seed", range(60))
def test_each_unit_holds_the_same_elements(seed):
    rng = random.Random(seed)
    sl = random_layout(rng)
    numel = prod(sl.shape)
    x = Var("x", make_tensor_type((numel,), "f32", "smem", sl))
    before = holdings(sl)
    split = [(prod(sl.shape[k + 1 :]), sl.shape[k]) for k in range(sl.rank) if sl.splitters(k) and sl.shape[k] > 1]
    for shape in shapes_of(numel, rng.randint(1, 3)):
        bounds = {prod(shape[k:]) for k in range(len(shape) + 1)}
        if any(step % n and n % (step * extent) for n in bounds for step, extent in split):
            # an axis of the new shape would begin inside of a split mode
            with pytest.raises(VerifyError, match="do not stay whole"):
                call(Reshape(shape), x)
        else:
            assert holdings(call(Reshape(shape), x).type.layout) == before
