"""Barrier insertion: no instance reads or overwrites shared memory before the others are done with it.

Between two barriers a shared buffer may be read by all or written by all. A block is walked with the set of buffers
that were read and written since the last barrier; a statement that would read a written buffer, or write a read or
written one, gets a barrier before it. Loop bodies are walked twice, so that hazards between iterations are seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import (
    AllocTensor,
    Binding,
    EffectOp,
    Element,
    Evaluate,
    For,
    If,
    Item,
    PrimFunction,
    Sync,
    TensorView,
    fold,
    inner_blocks,
    unfold,
)
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.base import CALL_FREE, PIPELINED, SYNCHRONISED, TILES, TIR, KernelPass
from tilefoundry.target import Target


@dataclass(frozen=True)
class InsertBarriers(KernelPass):
    """Puts a barrier of the CTA where shared memory would otherwise be raced on."""

    name: ClassVar[str] = "insert-barriers"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, CALL_FREE, TILES, PIPELINED})
    establishes: ClassVar[frozenset[str]] = frozenset({SYNCHRONISED})

    def run_kernel(self, kernel: PrimFunction, module: Module, target: Target) -> PrimFunction:
        """The kernel with the barriers that it needs."""
        return replace(kernel, body=fold(insert_barriers(unfold(kernel.body))))


def insert_barriers(items: list[Item]) -> list[Item]:
    """The block with the barriers that its shared buffers need."""
    return _Walk(_buffers(items)).block(items, _Since())


@dataclass(slots=True)
class _Since:
    """Buffers touched since the last barrier."""

    read: set[Var] = field(default_factory=set)
    written: set[Var] = field(default_factory=set)

    def clear(self) -> None:
        self.read.clear()
        self.written.clear()

    def merge(self, other: _Since) -> None:
        self.read |= other.read
        self.written |= other.written

    def copy(self) -> _Since:
        return _Since(set(self.read), set(self.written))


class _Walk:
    def __init__(self, buffers: Mapping[Var, Var]) -> None:
        self.buffers = buffers

    def block(self, items: list[Item], since: _Since) -> list[Item]:
        out: list[Item] = []
        for item in items:
            match item:
                case Evaluate():
                    out += self._effect(item, since)
                case Binding(value=Call(target=Element(), args=(memory, *_))):
                    out += self._access(item, (memory,), (), since)
                case For():
                    after = since.copy()
                    self.block(unfold(item.body), after)
                    since.merge(after)  # the state at the loop's entry is that before it or that after an iteration
                    entry = since.copy()
                    out.append(replace(item, body=fold(self.block(unfold(item.body), since))))
                    since.merge(entry)
                case If(_, then_body, else_body):
                    otherwise = since.copy()
                    then_body = fold(self.block(unfold(then_body), since))
                    if else_body is not None:
                        else_body = fold(self.block(unfold(else_body), otherwise))
                    out.append(replace(item, then_body=then_body, else_body=else_body))
                    since.merge(otherwise)
                case _:
                    out.append(item)
        return out

    def _effect(self, item: Evaluate, since: _Since) -> list[Item]:
        op = item.callable
        assert isinstance(op, EffectOp)
        if op.barrier:
            since.clear()
            return [item]
        reads, writes = ([item.args[i] for i in at if i < len(item.args)] for at in (op.reads, op.writes))
        return self._access(item, reads, writes, since)

    def _access(
        self, item: Item, read: Sequence[Expr | int], written: Sequence[Expr | int], since: _Since
    ) -> list[Item]:
        reads, writes = ({b for arg in args if (b := self._buffer(arg)) is not None} for args in (read, written))
        out: list[Item] = [item]
        if reads & since.written or writes & (since.read | since.written):
            since.clear()
            out = [Evaluate(Sync(), ()), item]
        since.read |= reads
        since.written |= writes
        return out

    def _buffer(self, arg: Expr | int) -> Var | None:
        return self.buffers.get(arg) if isinstance(arg, Var) else None


def _buffers(items: list[Item]) -> dict[Var, Var]:
    """For each shared tensor the variable that owns its storage: the one that was allocated.

    The stages of a ring are ordered by its pipeline, so they and views of them are left out.
    """
    owners: dict[Var, Var] = {}

    def visit(block: list[Item]) -> None:
        for item in block:
            match item:
                case Binding(var, Call(target=AllocTensor(ring=False))) if _is_shared(var):
                    owners[var] = var
                case Binding(var, Call(target=TensorView(), args=(Var() as memory, *_))) if memory in owners:
                    owners[var] = owners[memory]
                case _:
                    for inner in inner_blocks(item):
                        visit(unfold(inner))

    visit(items)
    return owners


def _is_shared(var: Var) -> bool:
    return isinstance(var.type, TensorType) and var.type.storage is StorageKind.SMEM
