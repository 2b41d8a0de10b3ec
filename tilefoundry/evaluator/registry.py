"""Which function evaluates which op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilefoundry.evaluator.attention.attention import attention
from tilefoundry.evaluator.attention.rope import rope
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.convolution.conv2d import conv2d
from tilefoundry.evaluator.create.arange import arange
from tilefoundry.evaluator.create.zeros import zeros
from tilefoundry.evaluator.elementwise.binary import binary
from tilefoundry.evaluator.elementwise.cast import cast
from tilefoundry.evaluator.elementwise.clamp import clamp
from tilefoundry.evaluator.elementwise.full_like import full_like
from tilefoundry.evaluator.elementwise.gelu import gelu
from tilefoundry.evaluator.elementwise.silu import silu
from tilefoundry.evaluator.elementwise.softplus import softplus
from tilefoundry.evaluator.elementwise.unary import unary
from tilefoundry.evaluator.elementwise.where import where
from tilefoundry.evaluator.index.cache_update import cache_update
from tilefoundry.evaluator.index.gather import gather
from tilefoundry.evaluator.index.index_add import index_add
from tilefoundry.evaluator.index.index_copy import index_copy
from tilefoundry.evaluator.index.index_select import index_select
from tilefoundry.evaluator.index.scatter_add import scatter_add
from tilefoundry.evaluator.matrix.matmul import matmul
from tilefoundry.evaluator.matrix.mma_sm80 import mma_sm80
from tilefoundry.evaluator.matrix.wgmma_sm90 import wgmma_sm90
from tilefoundry.evaluator.norm.layer_norm import layer_norm
from tilefoundry.evaluator.norm.rms_norm import rms_norm
from tilefoundry.evaluator.norm.softmax import softmax
from tilefoundry.evaluator.reduce.argmax import argmax
from tilefoundry.evaluator.reduce.argmin import argmin
from tilefoundry.evaluator.reduce.cumsum import cumsum
from tilefoundry.evaluator.reduce.quant import quant
from tilefoundry.evaluator.reduce.reduce import reduce
from tilefoundry.evaluator.reduce.sort import sort
from tilefoundry.evaluator.reduce.topk import topk
from tilefoundry.evaluator.shape.concat import concat
from tilefoundry.evaluator.shape.expand import expand
from tilefoundry.evaluator.shape.flip import flip
from tilefoundry.evaluator.shape.insert_slice import insert_slice
from tilefoundry.evaluator.shape.pad import pad
from tilefoundry.evaluator.shape.rank import rank
from tilefoundry.evaluator.shape.repeat_interleave import repeat_interleave
from tilefoundry.evaluator.shape.reshape import reshape
from tilefoundry.evaluator.shape.shape_of import shape_of
from tilefoundry.evaluator.shape.slice import slice_
from tilefoundry.evaluator.shape.split import split
from tilefoundry.evaluator.shape.squeeze import squeeze
from tilefoundry.evaluator.shape.stack import stack
from tilefoundry.evaluator.shape.transpose import transpose
from tilefoundry.evaluator.shape.tuple_get_item import tuple_get_item
from tilefoundry.evaluator.shape.unsqueeze import unsqueeze
from tilefoundry.evaluator.shard.local import local
from tilefoundry.evaluator.shard.mesh_coordinate import mesh_coordinate
from tilefoundry.evaluator.shard.reshard import reshard
from tilefoundry.ir import hir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.op import Op

# Any: each function takes the op class that it is registered for
Evaluator = Callable[[EvalContext, Any, Call, tuple[Value, ...]], Value]

EVALUATORS: dict[type[Op], Evaluator] = {
    hir.Arange: arange,
    hir.ArgMax: argmax,
    hir.ArgMin: argmin,
    hir.Attention: attention,
    hir.Binary: binary,
    hir.CacheUpdate: cache_update,
    hir.Cast: cast,
    hir.Clamp: clamp,
    hir.Concat: concat,
    hir.Conv2d: conv2d,
    hir.CumSum: cumsum,
    hir.Expand: expand,
    hir.Flip: flip,
    hir.FullLike: full_like,
    hir.Gather: gather,
    hir.Gelu: gelu,
    hir.IndexAdd: index_add,
    hir.IndexCopy: index_copy,
    hir.IndexSelect: index_select,
    hir.InsertSlice: insert_slice,
    hir.LayerNorm: layer_norm,
    hir.Local: local,
    hir.MatMul: matmul,
    hir.MeshCoordinate: mesh_coordinate,
    hir.MmaSm80: mma_sm80,
    hir.Pad: pad,
    hir.Quant: quant,
    hir.RMSNorm: rms_norm,
    hir.Rank: rank,
    hir.Reduce: reduce,
    hir.RepeatInterleave: repeat_interleave,
    hir.Reshape: reshape,
    hir.Reshard: reshard,
    hir.Rope: rope,
    hir.ScatterAdd: scatter_add,
    hir.ShapeOf: shape_of,
    hir.Silu: silu,
    hir.Slice: slice_,
    hir.Softmax: softmax,
    hir.Softplus: softplus,
    hir.Sort: sort,
    hir.SplitParts: split,
    hir.Squeeze: squeeze,
    hir.Stack: stack,
    hir.TopK: topk,
    hir.Transpose: transpose,
    hir.TupleGetItem: tuple_get_item,
    hir.Unary: unary,
    hir.Unsqueeze: unsqueeze,
    hir.WgmmaSm90: wgmma_sm90,
    hir.Where: where,
    hir.Zeros: zeros,
}
