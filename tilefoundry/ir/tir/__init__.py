"""TIR: statements over tensors that have a place, with explicit copies and barriers."""

from tilefoundry.ir.tir.items import Binding, Item, fold, items_within, unfold
from tilefoundry.ir.tir.ops.base import EffectOp, ValueOp
from tilefoundry.ir.tir.ops.elementwise import Binary, Cast, Copy, Fill, Iota, Unary, Where
from tilefoundry.ir.tir.ops.memory import AllocTensor, MemorySpan, TensorView
from tilefoundry.ir.tir.ops.mma import Mma
from tilefoundry.ir.tir.ops.pipeline import PipeAcquire, PipeCommit, PipeDrain, Pipeline, PipeRelease, PipeWait
from tilefoundry.ir.tir.ops.program import Index, ProgramDim, ProgramId
from tilefoundry.ir.tir.ops.reduce import Reduce
from tilefoundry.ir.tir.ops.sync import Sync
from tilefoundry.ir.tir.ops.tile import TileLoad, TileStore
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.tir.stmt import Evaluate, For, If, LetStmt, Sequential, Stmt

__all__ = [
    "AllocTensor",
    "Binary",
    "Binding",
    "Cast",
    "Copy",
    "EffectOp",
    "Evaluate",
    "Fill",
    "For",
    "If",
    "Index",
    "Iota",
    "Item",
    "LetStmt",
    "MemorySpan",
    "Mma",
    "PipeAcquire",
    "PipeCommit",
    "PipeDrain",
    "PipeRelease",
    "PipeWait",
    "Pipeline",
    "PrimFunction",
    "ProgramDim",
    "ProgramId",
    "Reduce",
    "Sequential",
    "Stmt",
    "Sync",
    "TensorView",
    "TileLoad",
    "TileStore",
    "Unary",
    "ValueOp",
    "Where",
    "fold",
    "items_within",
    "unfold",
]
