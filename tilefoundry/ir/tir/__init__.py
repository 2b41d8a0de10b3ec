"""TIR: statements over tensors that have a place, with explicit copies and barriers."""

from tilefoundry.ir.atoms import ATOMS, Fragment, MmaAtom
from tilefoundry.ir.tir.items import Binding, Item, expressions_of, fold, items_within, unfold
from tilefoundry.ir.tir.ops.base import EffectOp, ValueOp
from tilefoundry.ir.tir.ops.copy_async import CopyAsync, CpAsyncCommit, CpAsyncWait
from tilefoundry.ir.tir.ops.elementwise import Binary, Cast, Clamp, Copy, Fill, Iota, ReLU, Unary, Where
from tilefoundry.ir.tir.ops.index import CacheUpdate, Gather, IndexUpdate, PositionUpdate, RowUpdate
from tilefoundry.ir.tir.ops.launch import Launch
from tilefoundry.ir.tir.ops.local_matmul import LocalMatmul
from tilefoundry.ir.tir.ops.memory import AllocTensor, MemorySpan, PtrOf, TensorView, view_as
from tilefoundry.ir.tir.ops.mma import Mma
from tilefoundry.ir.tir.ops.norm import RMSNorm
from tilefoundry.ir.tir.ops.order import Scan, TopK
from tilefoundry.ir.tir.ops.part import CheckWindow, Element, GlobalView, StoreScalar
from tilefoundry.ir.tir.ops.pipeline import PipeAcquire, PipeCommit, PipeDrain, Pipeline, PipeRelease, PipeWait
from tilefoundry.ir.tir.ops.program import Index, ProgramDim, ProgramId
from tilefoundry.ir.tir.ops.reduce import Reduce
from tilefoundry.ir.tir.ops.sync import Sync
from tilefoundry.ir.tir.ops.tile import TileLoad, TileStore, WholeCopy, WholeFill, WholeIota
from tilefoundry.ir.tir.prim_func import PrimFunction, hidden_params
from tilefoundry.ir.tir.stmt import (
    Abort,
    DispatchCall,
    Evaluate,
    For,
    If,
    LetStmt,
    MeshScope,
    Return,
    Sequential,
    Stmt,
    While,
    inner_blocks,
    map_blocks,
)
from tilefoundry.ir.tir.symbols import EXTENT_TYPE, ShapeOf, SymbolRef, SymbolType
from tilefoundry.ir.tir.types import PointerType

__all__ = [
    "ATOMS",
    "EXTENT_TYPE",
    "Abort",
    "AllocTensor",
    "Binary",
    "Binding",
    "CacheUpdate",
    "Cast",
    "CheckWindow",
    "Clamp",
    "Copy",
    "CopyAsync",
    "CpAsyncCommit",
    "CpAsyncWait",
    "DispatchCall",
    "EffectOp",
    "Element",
    "Evaluate",
    "Fill",
    "For",
    "Fragment",
    "Gather",
    "GlobalView",
    "If",
    "Index",
    "IndexUpdate",
    "Iota",
    "Item",
    "Launch",
    "LetStmt",
    "LocalMatmul",
    "MemorySpan",
    "MeshScope",
    "Mma",
    "MmaAtom",
    "PipeAcquire",
    "PipeCommit",
    "PipeDrain",
    "PipeRelease",
    "PipeWait",
    "Pipeline",
    "PointerType",
    "PositionUpdate",
    "PrimFunction",
    "ProgramDim",
    "ProgramId",
    "PtrOf",
    "RMSNorm",
    "ReLU",
    "Reduce",
    "Return",
    "RowUpdate",
    "Scan",
    "Sequential",
    "ShapeOf",
    "Stmt",
    "StoreScalar",
    "SymbolRef",
    "SymbolType",
    "Sync",
    "TensorView",
    "TileLoad",
    "TileStore",
    "TopK",
    "Unary",
    "ValueOp",
    "Where",
    "While",
    "WholeCopy",
    "WholeFill",
    "WholeIota",
    "expressions_of",
    "fold",
    "hidden_params",
    "inner_blocks",
    "items_within",
    "map_blocks",
    "unfold",
    "view_as",
]
