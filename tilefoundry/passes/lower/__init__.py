"""HIR to TIR: one file per op, mirroring `tilefoundry.ir.hir`."""

from tilefoundry.passes.lower.create import arange, zeros
from tilefoundry.passes.lower.elementwise import binary, cast, clamp, full_like, gelu, silu, softplus, unary, where
from tilefoundry.passes.lower.function import lower_function
from tilefoundry.passes.lower.matrix import matmul
from tilefoundry.passes.lower.norm import layer_norm, rms_norm, softmax
from tilefoundry.passes.lower.reduce import argmax, argmin, reduce
from tilefoundry.passes.lower.shape import insert_slice, reshape, slice, transpose, tuple_get_item
from tilefoundry.passes.lower.shard import local, mesh_coordinate, reshard

# imported for the rules that they register
_RULES = (
    arange,
    argmax,
    argmin,
    binary,
    cast,
    clamp,
    full_like,
    gelu,
    insert_slice,
    layer_norm,
    local,
    matmul,
    mesh_coordinate,
    reduce,
    reshape,
    reshard,
    rms_norm,
    silu,
    slice,
    softmax,
    softplus,
    transpose,
    tuple_get_item,
    unary,
    where,
    zeros,
)

__all__ = ["lower_function"]
