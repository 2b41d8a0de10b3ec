"""Shared-memory planning: every shared tile becomes a view of one span per CTA.

Tiles are laid one after another; a CTA's tiles all live while it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import Dim, dim_add, dim_mul
from tilefoundry.ir.tir import (
    AllocTensor,
    Binding,
    Evaluate,
    Item,
    MemorySpan,
    PrimFunction,
    TensorView,
    fold,
    items_within,
    map_blocks,
    unfold,
    view_as,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.base import CALL_FREE, PLANNED, SYNCHRONISED, TILES, TIR, KernelPass, placement_of
from tilefoundry.passes.names import Names
from tilefoundry.passes.sizes import alignment, storage_bytes, storage_layout
from tilefoundry.target import CudaTarget, Target


@dataclass(frozen=True)
class PlanMemory(KernelPass):
    """Gives every shared tile its place.

    Raises:
        CompileError: when it runs: the tiles do not fit into the shared memory of a CTA.
    """

    name: ClassVar[str] = "plan-memory"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, CALL_FREE, TILES, SYNCHRONISED})
    establishes: ClassVar[frozenset[str]] = frozenset({PLANNED})
    invalidates: ClassVar[frozenset[str]] = frozenset({TILES})

    def run_kernel(self, kernel: PrimFunction, module: Module, target: Target) -> PrimFunction:
        """The kernel with its tiles in one span."""
        planned, used = plan_memory(unfold(kernel.body), Names.of(kernel))
        placement = placement_of(module, target)
        if isinstance(placement, CudaTarget) and used > placement.shared_bytes_per_cta:
            raise CompileError(
                f"the tiles of '{kernel.name}' take {used} bytes of shared memory, and a CTA of "
                f"{placement.device.id} has {placement.shared_bytes_per_cta}",
                span=kernel.span,
                remedy="use smaller tiles, or fewer stages",
            )
        return replace(kernel, body=fold(planned))


def shared_limit(module: Module, target: Target) -> int | None:
    """Bytes of shared memory that a CTA may have where the Module is placed; None: as many as it likes."""
    placement = placement_of(module, target)
    return placement.shared_bytes_per_cta if isinstance(placement, CudaTarget) else None


def shared_bytes(items: list[Item]) -> int:
    """Bytes of shared memory that a block takes."""
    return plan_memory(items, Names())[1]


def plan_memory(items: list[Item], names: Names) -> tuple[list[Item], int]:
    """The block with its shared tiles placed in one span, and the span's bytes (0: no shared memory)."""
    plan = _Plan(Var(names.fresh("shared"), TensorType((1,), DType.u8, None, StorageKind.SMEM)))
    placed = plan.place(items)
    if plan.bytes == 0:
        return placed, 0
    span = plan.span
    return [Binding(span, Call(MemorySpan(plan.bytes), (), span.type)), *placed], plan.bytes


class _Plan:
    """Hands out offsets; the stages of a ring become views of the span themselves."""

    def __init__(self, span: Var) -> None:
        self.span = span
        self.bytes = 0
        self._offsets: dict[Var, Dim] = {}  # in bytes, of every shared tensor

    def place(self, items: list[Item]) -> list[Item]:
        return self._block(items, _only_windowed(items))

    def _block(self, items: list[Item], rings: Collection[object]) -> list[Item]:
        out: list[Item] = []
        for item in items:
            match item:
                case Binding(var, Call(target=AllocTensor(TensorType(storage=StorageKind.SMEM) as type_))):
                    step = alignment(type_)
                    self._offsets[var] = offset = -(-self.bytes // step) * step
                    self.bytes = offset + storage_bytes(type_)
                    if var not in rings:
                        out.append(self._view(var, type_, offset))
                case Binding(var, Call(target=TensorView(), args=(Var() as memory, *at))) if (
                    at and memory in self._offsets
                ):
                    self._offsets[var] = place = dim_add(self._offsets[memory], _bytes_to(memory, at))
                    out.append(self._view(var, _tensor_type(var), place))
                case Binding(var, Call(target=TensorView(), args=(Var() as memory,))) if memory in self._offsets:
                    self._offsets[var] = self._offsets[memory]
                    out.append(item)
                case Binding():
                    out.append(item)
                case _:
                    out.append(map_blocks(item, lambda block: fold(self._block(unfold(block), rings))))
        return out

    def _view(self, var: Var, type_: TensorType, offset: Dim) -> Binding:
        return Binding(var, Call(view_as(type_), (self.span, offset), type_))


def _only_windowed(items: Sequence[Item]) -> set[Expr]:
    """Tensors that are read and written through views of parts of them alone, such as the stages of a ring."""
    windowed: set[Expr] = set()
    whole: set[Expr | int] = set()
    for item in items_within(items):
        if isinstance(item, Evaluate):
            whole.update(item.args)
        elif isinstance(item, Binding) and isinstance(item.value, Call):
            memory, *at = item.value.args or (0,)
            if isinstance(item.value.target, TensorView) and at and isinstance(memory, Expr):
                windowed.add(memory)
            else:
                whole.update(item.value.args)
    return windowed - whole


def _bytes_to(memory: Var, at: Sequence[Expr | int]) -> Dim:
    """The distance of an element from the first, in bytes."""
    type_ = _tensor_type(memory)
    strides = storage_layout(type_).strides
    assert strides is not None
    offset: Dim = 0
    for coordinate, stride in zip(at, strides, strict=True):
        if isinstance(stride, tuple):
            assert coordinate == 0  # a view starts where an axis that lies in blocks does
        else:
            offset = dim_add(offset, dim_mul(coordinate, stride))
    return dim_mul(offset, type_.dtype.storage_bits // 8)


def _tensor_type(var: Var) -> TensorType:
    assert isinstance(var.type, TensorType)
    return var.type
