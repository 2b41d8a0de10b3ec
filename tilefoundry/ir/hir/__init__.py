"""The semantic ops. One op, one file; importing this package registers them all."""

from tilefoundry.ir.hir.attention.attention import Attention
from tilefoundry.ir.hir.attention.rope import Rope
from tilefoundry.ir.hir.convolution.conv2d import Conv2d
from tilefoundry.ir.hir.create.arange import Arange
from tilefoundry.ir.hir.create.zeros import Zeros
from tilefoundry.ir.hir.derive import derive_output_shard_layout
from tilefoundry.ir.hir.elementwise.binary import Binary
from tilefoundry.ir.hir.elementwise.cast import Cast
from tilefoundry.ir.hir.elementwise.clamp import Clamp
from tilefoundry.ir.hir.elementwise.full_like import FullLike
from tilefoundry.ir.hir.elementwise.gelu import Gelu
from tilefoundry.ir.hir.elementwise.silu import Silu
from tilefoundry.ir.hir.elementwise.softplus import Softplus
from tilefoundry.ir.hir.elementwise.unary import Unary
from tilefoundry.ir.hir.elementwise.where import Where
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.hir.index.cache_update import CacheUpdate
from tilefoundry.ir.hir.index.gather import Gather
from tilefoundry.ir.hir.index.index_add import IndexAdd
from tilefoundry.ir.hir.index.index_copy import IndexCopy
from tilefoundry.ir.hir.index.index_select import IndexSelect
from tilefoundry.ir.hir.index.scatter_add import ScatterAdd
from tilefoundry.ir.hir.kinds import BinaryKind, ReduceKind, UnaryKind
from tilefoundry.ir.hir.matrix.matmul import MatMul
from tilefoundry.ir.hir.matrix.mma_sm80 import MmaSm80
from tilefoundry.ir.hir.matrix.wgmma_sm90 import WgmmaSm90
from tilefoundry.ir.hir.norm.layer_norm import LayerNorm
from tilefoundry.ir.hir.norm.rms_norm import RMSNorm
from tilefoundry.ir.hir.norm.softmax import Softmax
from tilefoundry.ir.hir.reduce.argmax import ArgMax
from tilefoundry.ir.hir.reduce.argmin import ArgMin
from tilefoundry.ir.hir.reduce.cumsum import CumSum
from tilefoundry.ir.hir.reduce.quant import Quant
from tilefoundry.ir.hir.reduce.reduce import Reduce
from tilefoundry.ir.hir.reduce.sort import Sort
from tilefoundry.ir.hir.reduce.topk import TopK
from tilefoundry.ir.hir.relation import AffineMap, Relation
from tilefoundry.ir.hir.shape.concat import Concat
from tilefoundry.ir.hir.shape.expand import Expand
from tilefoundry.ir.hir.shape.flip import Flip
from tilefoundry.ir.hir.shape.insert_slice import InsertSlice
from tilefoundry.ir.hir.shape.pad import Pad
from tilefoundry.ir.hir.shape.rank import Rank
from tilefoundry.ir.hir.shape.repeat_interleave import RepeatInterleave
from tilefoundry.ir.hir.shape.reshape import Reshape
from tilefoundry.ir.hir.shape.shape_of import ShapeOf
from tilefoundry.ir.hir.shape.slice import Slice
from tilefoundry.ir.hir.shape.split import SplitParts
from tilefoundry.ir.hir.shape.squeeze import Squeeze
from tilefoundry.ir.hir.shape.stack import Stack
from tilefoundry.ir.hir.shape.transpose import Transpose
from tilefoundry.ir.hir.shape.tuple_get_item import TupleGetItem
from tilefoundry.ir.hir.shape.unsqueeze import Unsqueeze
from tilefoundry.ir.hir.shard.local import Local
from tilefoundry.ir.hir.shard.mesh_coordinate import MeshCoordinate
from tilefoundry.ir.hir.shard.reshard import Reshard

__all__ = [
    "AffineMap",
    "Arange",
    "ArgMax",
    "ArgMin",
    "Attention",
    "Binary",
    "BinaryKind",
    "CacheUpdate",
    "Cast",
    "Clamp",
    "Concat",
    "Conv2d",
    "CumSum",
    "Expand",
    "Flip",
    "FullLike",
    "Gather",
    "Gelu",
    "GridRegionExpr",
    "IndexAdd",
    "IndexCopy",
    "IndexSelect",
    "InsertSlice",
    "LayerNorm",
    "Local",
    "MatMul",
    "MeshCoordinate",
    "MmaSm80",
    "Pad",
    "Quant",
    "RMSNorm",
    "Rank",
    "Reduce",
    "ReduceKind",
    "Relation",
    "RepeatInterleave",
    "Reshape",
    "Reshard",
    "Rope",
    "ScatterAdd",
    "ShapeOf",
    "Silu",
    "Slice",
    "Softmax",
    "Softplus",
    "Sort",
    "SplitParts",
    "Squeeze",
    "Stack",
    "TopK",
    "Transpose",
    "TupleGetItem",
    "Unary",
    "UnaryKind",
    "Unsqueeze",
    "WgmmaSm90",
    "Where",
    "Zeros",
    "derive_output_shard_layout",
]
