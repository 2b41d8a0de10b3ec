"""Where tensors live: registers, spans of shared memory, and views over either."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.shard import Layout, ShardLayout
from tilefoundry.ir.tir.ops.base import ValueOp
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class AllocTensor(ValueOp):
    """``AllocTensor(tensor_type)()``: a fresh tensor in registers (per instance) or shared memory (per CTA).

    Shared allocations are replaced by views of one ``MemorySpan`` when memory is planned.
    """

    tensor_type: TensorType


@dataclass(frozen=True, slots=True)
class MemorySpan(ValueOp):
    """``MemorySpan(bytes)()``: the CTA's shared memory, 128-byte aligned."""

    bytes: int


@dataclass(frozen=True, slots=True)
class TensorView(ValueOp):
    """``TensorView(tensor_type)(memory[, byte_offset])``: the storage of ``memory`` under another shape or layout.

    ``memory`` is a tensor of the same element type, or a span, which needs the offset in bytes.
    """

    tensor_type: TensorType

    @property
    def layout(self) -> Layout | ShardLayout | None:
        """The layout of the view: a plain one belongs to the whole CTA, a sharded one to its instances."""
        return self.tensor_type.layout  # type: ignore[return-value]
