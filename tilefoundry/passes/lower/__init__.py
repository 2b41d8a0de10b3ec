"""HIR to TIR: one file per op, mirroring `tilefoundry.ir.hir`."""

from tilefoundry.passes.lower.attention import attention, rope
from tilefoundry.passes.lower.convolution import conv2d
from tilefoundry.passes.lower.create import arange, zeros
from tilefoundry.passes.lower.elementwise import binary, cast, clamp, full_like, gelu, silu, softplus, unary, where
from tilefoundry.passes.lower.function import lower_function
from tilefoundry.passes.lower.index import cache_update, gather, index_add, index_copy, index_select, scatter_add
from tilefoundry.passes.lower.matrix import matmul, mma_sm80, wgmma_sm90
from tilefoundry.passes.lower.norm import layer_norm, rms_norm, softmax
from tilefoundry.passes.lower.reduce import argmax, argmin, cumsum, quant, reduce, sort, topk
from tilefoundry.passes.lower.shape import (
    concat,
    expand,
    flip,
    insert_slice,
    pad,
    rank,
    repeat_interleave,
    reshape,
    shape_of,
    slice,
    split,
    squeeze,
    stack,
    transpose,
    tuple_get_item,
    unsqueeze,
)
from tilefoundry.passes.lower.shard import local, mesh_coordinate, reshard

# imported for the rules that they register
_RULES = (
    arange,
    argmax,
    argmin,
    attention,
    binary,
    cache_update,
    cast,
    clamp,
    concat,
    conv2d,
    cumsum,
    expand,
    flip,
    full_like,
    gather,
    gelu,
    index_add,
    index_copy,
    index_select,
    insert_slice,
    layer_norm,
    local,
    matmul,
    mesh_coordinate,
    mma_sm80,
    pad,
    quant,
    rank,
    reduce,
    repeat_interleave,
    reshape,
    reshard,
    rms_norm,
    rope,
    scatter_add,
    shape_of,
    silu,
    slice,
    softmax,
    softplus,
    sort,
    split,
    squeeze,
    stack,
    topk,
    transpose,
    tuple_get_item,
    unary,
    unsqueeze,
    wgmma_sm90,
    where,
    zeros,
)

__all__ = ["lower_function"]
