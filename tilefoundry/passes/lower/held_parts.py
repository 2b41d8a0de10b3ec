"""Parts that units take of tensors in memory, held in registers: `tf.local`, and windows at places of the threads' own.

Memory is shared, so a value that differs from unit to unit has no place there. Every unit loads its part, and what is
computed from it is each unit's own as well; operands that it meets in memory are loaded whole.
"""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.hir import Local, Reshard, Slice
from tilefoundry.ir.rewrite import Node, Rewriter
from tilefoundry.ir.shard import Layout, ShardLayout, per_unit_strides, row_major, with_strides
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.shape.slice import coordinates_of
from tilefoundry.passes.lower.shard.mesh_coordinate import is_of_one_cta

_MEMORY = (StorageKind.GMEM, StorageKind.SMEM)


def with_held_parts(results: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The results of a function, each in the memory that it was in."""
    if not any(_is_own_part(node) for node in post_order(*results)):
        return results
    rewrite = _HeldParts({})
    return tuple(_back(rewrite.expr(result), result) for result in results)


class _HeldParts(Rewriter):
    def _rebuild(self, node: Expr) -> Node:
        if _is_part_of_memory(node):
            assert isinstance(node, Call)
            (x,) = self._all(node.args)
            assert isinstance(x, Expr)
            return Call(node.target, (_loaded(x),), metadata=node.metadata)
        if isinstance(node, Call) and isinstance(node.target, Reshard) and not _keeps_copies(node.target):
            (x,) = self._all(node.args)
            if isinstance(x, Call) and _is_own_window(node.args[0]):  # one value of several: refused where it is read
                return Call(node.target, x.args, metadata=node.metadata)
        try:
            rebuilt = super()._rebuild(node)
            return _in_registers(rebuilt) if _is_own_window(rebuilt) else rebuilt
        except VerifyError:
            if not isinstance(node, Call):
                raise
            # an operand is in registers now, and has to meet others there
            args = tuple(_in_registers(arg) if _lies_in(arg, _MEMORY) else arg for arg in self._all(node.args))
            return Call(node.target, args, metadata=node.metadata)


def _is_own_part(node: Expr) -> bool:
    return _is_part_of_memory(node) or _is_own_window(node)


def _is_part_of_memory(node: Expr) -> bool:
    return isinstance(node, Call) and isinstance(node.target, Local) and _lies_in(node.args[0], _MEMORY)


def _keeps_copies(op: Reshard) -> bool:
    """Whether each thread keeps the copy that it has."""
    return op.storage is StorageKind.RMEM and isinstance(op.layout, Layout)


def _is_own_window(x: Node) -> bool:
    """Whether a value is a window of a tensor in memory that starts where the thread's coordinates say."""
    if not isinstance(x, Call) or not isinstance(x.target, Slice) or not _lies_in(x, _MEMORY):
        return False
    return any(not is_of_one_cta(axis) for axis in coordinates_of(x.args[1]))


def _loaded(x: Expr) -> Expr:
    """A spread value in registers; of a shared tile, each unit reads its part."""
    assert isinstance(x.type, TensorType) and isinstance(x.type.layout, ShardLayout)  # typed
    apart = Reshard(with_strides(x.type.layout, per_unit_strides(x.type.layout)), StorageKind.RMEM)
    if isinstance(x, Call) and isinstance(x.target, Reshard) and x.type.storage is StorageKind.SMEM:
        x = Call(Reshard(row_major(x.type.shape), StorageKind.SMEM), x.args, metadata=x.metadata)
    return Call(apart, (x,), metadata=x.metadata)


def _in_registers(x: Node) -> Expr:
    assert isinstance(x, Expr) and isinstance(x.type, TensorType)
    metadata = tuple(m for m in x.metadata if not isinstance(m, BindingMetadata))
    return Call(Reshard(Layout(x.type.shape), StorageKind.RMEM), (x,), metadata=metadata)


def _back(value: Expr, result: Expr) -> Expr:
    assert isinstance(value.type, TensorType) and isinstance(result.type, TensorType)
    if value.type.storage is result.type.storage:
        return value
    return Call(Reshard(Layout(value.type.shape), result.type.storage), (value,), metadata=result.metadata)


def _lies_in(x: Node, storages: tuple[StorageKind, ...]) -> bool:
    return isinstance(x, Expr) and isinstance(x.type, TensorType) and bool(x.type.rank) and x.type.storage in storages
