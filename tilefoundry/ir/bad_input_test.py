"""Whatever is given to them, the public constructors and helpers build something or raise an error of the family."""

import itertools
import random

import pytest

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir import core, dims, shard, types
from tilefoundry.ir.core.selectors import select
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.samples import THREADS
from tilefoundry.target import CpuTarget, CudaTarget, validate_program_topology

N = DimVar("N", 1, 9)
T4 = types.make_tensor_type((4,), "f32")
X = core.Var("x", T4)
PLACED = shard.canonical_shard_layout((4,), THREADS, (shard.Split(0), shard.Broadcast(), shard.Broadcast()))
ANYTHING = [
    *(None, True, 3, -1, 0, 1.5, "s", "", b"x", (), (4,), (4, None), (-1,), ("a",), [4], {}, object(), len),
    *(N, N * 2, T4, X, PLACED, THREADS, shard.Layout((4,)), shard.Layout((4,), (1,)), shard.Topology("thread", 128)),
    *((shard.Topology("thread", 4),), shard.Split(0), (shard.Split(0),), types.DType.f32, types.StorageKind.GMEM),
    *(core.Constant(1.5, types.TensorType.scalar("f32")), core.BindingMetadata("n"), (T4, T4), (X, X)),
]
# What to call, and with how many arguments.
CALLED = {
    "Layout": (shard.Layout, 2),
    "ComposedLayout": (shard.ComposedLayout, 3),
    "Topology": (shard.Topology, 2),
    "Mesh": (shard.Mesh, 3),
    "Mesh slice": (lambda index: THREADS[index], 1),
    "MeshAxis": (shard.MeshAxis, 2),
    "make_mesh": (shard.make_mesh, 3),
    "ShardLayout": (shard.ShardLayout, 3),
    "Split": (shard.Split, 1),
    "Partial": (shard.Partial, 1),
    "canonical_shard_layout": (shard.canonical_shard_layout, 3),
    "shard_layout_local_shape": (shard.shard_layout_local_shape, 1),
    "c_order_strides": (shard.c_order_strides, 1),
    "try_c_order_strides": (shard.try_c_order_strides, 1),
    "size": (shard.size, 1),
    "cosize": (shard.cosize, 1),
    "apply": (shard.apply, 2),
    "idx2crd": (shard.idx2crd, 2),
    "crd2idx": (shard.crd2idx, 2),
    "coalesce": (shard.coalesce, 1),
    "complement": (shard.complement, 2),
    "composition": (shard.composition, 2),
    "left_inverse": (shard.left_inverse, 1),
    "right_inverse": (shard.right_inverse, 1),
    "image": (shard.image, 1),
    "project": (shard.project, 2),
    "contains": (shard.contains, 2),
    "composed": (shard.composed, 1),
    "level_projection": (shard.level_projection, 2),
    "TensorType": (types.TensorType, 4),
    "TupleType": (types.TupleType, 1),
    "make_tensor_type": (types.make_tensor_type, 4),
    "make_shard_tensor_type": (types.make_shard_tensor_type, 5),
    "local_type_of": (lambda t, level, levels: types.local_type_of(t, level=level, topologies=levels), 3),
    "resolve_storage": (types.resolve_storage, 1),
    "from_name": (types.DType.from_name, 1),
    "DimVar": (dims.DimVar, 3),
    "normalize_dim": (dims.normalize_dim, 1),
    "simplify_dim": (dims.simplify_dim, 2),
    "ceildiv": (dims.ceildiv, 2),
    "dim_min": (dims.dim_min, 2),
    "Var": (core.Var, 4),
    "Constant": (core.Constant, 3),
    "Tuple": (core.Tuple, 2),
    "Call": (core.Call, 2),
    "replace_metadata": (core.replace_metadata, 2),
    "remove_metadata": (core.remove_metadata, 2),
    "Function": (core.Function, 4),
    "Module": (core.Module, 6),
    "select": (lambda path: select(core.Module("m", ()), path), 1),
    "DimVarRangePat": (core.DimVarRangePat, 3),
    "CudaTarget": (CudaTarget, 2),
    "CpuTarget": (CpuTarget, 1),
    "validate_program_topology": (lambda target: validate_program_topology((), target), 1),
}


@pytest.mark.parametrize("name", CALLED)
def test_bad_input_is_refused_by_the_family(name):
    function, arity = CALLED[name]
    if arity <= 2:
        cases = itertools.product(ANYTHING, repeat=arity)
    else:
        source = random.Random(arity)
        cases = ([source.choice(ANYTHING) for _ in range(arity)] for _ in range(1500))
    refused = 0
    for case in cases:
        try:
            function(*case)
        except TileFoundryError:
            refused += 1
    assert refused
