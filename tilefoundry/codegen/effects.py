"""Each effect of TIR as one call of a runtime op.

A call names the op and its operands, never a tier: which instructions run follows from the operands' layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilefoundry.codegen.barrier_text import barrier_text
from tilefoundry.codegen.index_text import (
    cache_update_text,
    gather_text,
    index_update_text,
    position_update_text,
    row_update_text,
)
from tilefoundry.codegen.op_tags import BINARY, REDUCE, UNARY
from tilefoundry.codegen.order_text import scan_text, topk_text
from tilefoundry.codegen.parts import shape_text
from tilefoundry.codegen.register_scalars import assignment_text, is_register_scalar
from tilefoundry.codegen.scalars import literal_text
from tilefoundry.codegen.types import dtype_text, int_text
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.types import DType, TensorType

if TYPE_CHECKING:
    from tilefoundry.codegen.body import Body

Args = tuple[Expr, ...]


def effect_text(body: Body, op: tir.EffectOp, args: Args) -> str:
    """The statement that runs ``op`` on ``args``."""
    if args and isinstance(op, SCALAR_OPS) and is_register_scalar(args[-1]):
        return assignment_text(body, op, args)
    return _EMITTERS[type(op)](body, op, args)


def _copy(body: Body, op: tir.Copy, args: Args) -> str:
    return f"tilefoundry::copy({body.tensor(args[0])}, {body.tensor(args[1])});"


def _fill(body: Body, op: tir.Fill, args: Args) -> str:
    return f"ops::fill({body.tensor(args[0])}, {literal_text(op.value, body.dtype(args[0]))});"


def _iota(body: Body, op: tir.Iota, args: Args) -> str:
    start, dst = args
    dtype = body.dtype(dst)
    values = f"{body.scalar(start, dtype)}, {literal_text(op.step, dtype)}"
    return f"ops::iota({body.tensor(dst)}, {int_text(op.axis)}{{}}, {values});"


def _unary(body: Body, op: tir.Unary, args: Args) -> str:
    return f"ops::unary(op::{UNARY[op.kind]}{{}}, {body.tensor(args[0])}, {body.tensor(args[1])});"


def _cast(body: Body, op: tir.Cast, args: Args) -> str:
    return f"ops::cast({body.tensor(args[0])}, {body.tensor(args[1])});"


def _binary(body: Body, op: tir.Binary, args: Args) -> str:
    lhs, rhs, dst = args
    dtype = next(body.dtype(x) for x in (lhs, rhs) if body.is_tensor(x))
    operands = f"{body.operand(lhs, dtype)}, {body.operand(rhs, dtype)}, {body.tensor(dst)}"
    return f"ops::binary(op::{BINARY[op.kind]}{{}}, {operands});"


def _where(body: Body, op: tir.Where, args: Args) -> str:
    condition, then, otherwise, dst = args
    dtype = body.dtype(dst)
    choices = f"{body.operand(then, dtype)}, {body.operand(otherwise, dtype)}"
    return f"ops::where({body.operand(condition, DType.bool)}, {choices}, {body.tensor(dst)});"


def _reduce(body: Body, op: tir.Reduce, args: Args) -> str:
    axes = ", ".join(map(str, op.axes))
    operands = ", ".join(body.tensor(arg) for arg in args)
    return f"ops::reduce<op::{REDUCE[op.kind]}, Axes<{axes}>>({operands});"


def _mma(body: Body, op: tir.Mma, args: Args) -> str:
    acc, lhs, rhs = (body.tensor(arg) for arg in args)
    return f"ops::mma({lhs}, {rhs}, {acc});"


def _local_matmul(body: Body, op: tir.LocalMatmul, args: Args) -> str:
    acc, lhs, rhs = (body.tensor(arg) for arg in args)
    return f"ops::local_matmul({lhs}, {rhs}, {acc});"


def _tile_load(body: Body, op: tir.TileLoad, args: Args) -> str:
    tensor, coordinates, *rest = args
    operands = ", ".join(body.tensor(arg) for arg in rest)
    return f"ops::tile_load({body.tile_map(tensor, op.box)}, {_coordinate(body, coordinates)}, {operands});"


def _tile_store(body: Body, op: tir.TileStore, args: Args) -> str:
    src, tensor, coordinates = (args[0], args[1], args[2])
    return f"ops::tile_store({body.tile_map(tensor, op.box)}, {_coordinate(body, coordinates)}, {body.tensor(src)});"


def _coordinate(body: Body, coordinates: Expr) -> str:
    assert isinstance(coordinates, Tuple)
    return f"make_coord({', '.join(body.scalar(c) for c in coordinates.elements)})"


def _whole_copy(body: Body, op: tir.WholeCopy, args: Args) -> str:
    tensors = f"{body.tensor(args[0])}, {body.tensor(args[1])}"
    backwards = f"Axes<{', '.join(map(str, op.backwards))}>"
    return f"ops::whole_copy<{backwards}>({tensors}, {_extents(body, args[1])}, {_share(op.everywhere)});"


def _whole_fill(body: Body, op: tir.WholeFill, args: Args) -> str:
    value = body.scalar(args[0], body.dtype(args[1]))
    return f"ops::whole_fill({value}, {body.tensor(args[1])}, {_extents(body, args[1])}, {_share(op.everywhere)});"


def _whole_iota(body: Body, op: tir.WholeIota, args: Args) -> str:
    start, dst = args
    dtype = body.dtype(dst)
    values = f"{body.scalar(start, dtype)}, {literal_text(op.step, dtype)}"
    return (
        f"ops::whole_iota({int_text(op.axis)}{{}}, {values}, {body.tensor(dst)}, {_extents(body, dst)}, "
        f"{_share(op.everywhere)});"
    )


def _share(everywhere: bool) -> str:
    return "share_of_grid()" if everywhere else "share_of_cta()"


def _extents(body: Body, tensor: Expr) -> str:
    assert isinstance(tensor.type, TensorType)
    return shape_text(body, tensor.type.shape)


def _store_scalar(body: Body, op: tir.StoreScalar, args: Args) -> str:
    value, out = args
    dtype = body.dtype(out)
    return f"ops::store_element<{dtype_text(dtype)}>({body.tensor(out)}, {body.scalar(value, dtype)});"


def _on_pipe(method: str) -> Callable[..., str]:
    """The emitter of a pipeline effect that has no attributes."""

    def emit(body: Body, op: tir.EffectOp, args: Args) -> str:
        return f"{body.tensor(args[0])}.{method}();"

    return emit


def _wait(body: Body, op: tir.PipeWait, args: Args) -> str:
    return f"{body.tensor(args[0])}.template wait<{op.pending}>();"


def _sync(body: Body, op: tir.Sync, args: Args) -> str:
    return (
        "ops::sync<SyncKind::cta>();"
        if op.mesh is None
        else barrier_text(body.next_barrier(op.mesh), body.grid_counters)
    )


def _relu(body: Body, op: tir.ReLU, args: Args) -> str:
    return f"ops::unary(op::relu{{}}, {body.tensor(args[0])}, {body.tensor(args[1])});"


def _clamp(body: Body, op: tir.Clamp, args: Args) -> str:
    dtype = body.dtype(args[0])
    bounds = ", ".join(literal_text(bound, dtype) for bound in (op.min_val, op.max_val))
    return f"ops::clamp({body.tensor(args[0])}, {bounds}, {body.tensor(args[1])});"


def _copy_async(body: Body, op: tir.CopyAsync, args: Args) -> str:
    return f"ops::copy_async({body.tensor(args[0])}, {body.tensor(args[1])});"


def _async_commit(body: Body, op: tir.CpAsyncCommit, args: Args) -> str:
    return "ops::cp_async_commit();"


def _async_wait(body: Body, op: tir.CpAsyncWait, args: Args) -> str:
    return f"ops::cp_async_wait<{op.n}>();"


SCALAR_OPS = (tir.Binary, tir.Cast, tir.Clamp, tir.Copy, tir.Fill, tir.ReLU, tir.Unary, tir.Where)

_EMITTERS: dict[type[tir.EffectOp], Callable[..., str]] = {
    tir.Binary: _binary,
    tir.CacheUpdate: cache_update_text,
    tir.Cast: _cast,
    tir.Clamp: _clamp,
    tir.Copy: _copy,
    tir.CopyAsync: _copy_async,
    tir.CpAsyncCommit: _async_commit,
    tir.CpAsyncWait: _async_wait,
    tir.Fill: _fill,
    tir.Gather: gather_text,
    tir.IndexUpdate: index_update_text,
    tir.Iota: _iota,
    tir.LocalMatmul: _local_matmul,
    tir.Mma: _mma,
    tir.PipeAcquire: _on_pipe("acquire"),
    tir.PipeCommit: _on_pipe("commit"),
    tir.PipeDrain: _on_pipe("drain"),
    tir.PipeRelease: _on_pipe("release"),
    tir.PipeWait: _wait,
    tir.PositionUpdate: position_update_text,
    tir.ReLU: _relu,
    tir.Reduce: _reduce,
    tir.Scan: scan_text,
    tir.StoreScalar: _store_scalar,
    tir.RowUpdate: row_update_text,
    tir.Sync: _sync,
    tir.TileLoad: _tile_load,
    tir.TileStore: _tile_store,
    tir.TopK: topk_text,
    tir.Unary: _unary,
    tir.Where: _where,
    tir.WholeCopy: _whole_copy,
    tir.WholeFill: _whole_fill,
    tir.WholeIota: _whole_iota,
}
