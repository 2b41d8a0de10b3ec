"""Elementwise effect ops: the last argument is the destination, operands have its local shape or are scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.hir.kinds import BinaryKind, UnaryKind
from tilefoundry.ir.tir.ops.base import EffectOp


@dataclass(frozen=True, slots=True)
class Copy(EffectOp):
    """``Copy()(src, dst)``: every instance copies its own part; same local shape on both sides."""

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True, slots=True)
class Fill(EffectOp):
    """``Fill(value)(dst)``: every element becomes ``value``, rounded to the element type."""

    value: float | int | bool

    writes: ClassVar[tuple[int, ...]] = (0,)


@dataclass(frozen=True, slots=True)
class Iota(EffectOp):
    """``Iota(axis, step)(start, dst)``: start + step * (logical coordinate along ``axis``)."""

    axis: int
    step: int

    writes: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True, slots=True)
class Unary(EffectOp):
    """``Unary(kind)(src, dst)``."""

    kind: UnaryKind

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True, slots=True)
class Cast(EffectOp):
    """``Cast()(src, dst)``: to the element type of ``dst``."""

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True, slots=True)
class Binary(EffectOp):
    """``Binary(kind)(lhs, rhs, dst)``."""

    kind: BinaryKind

    reads: ClassVar[tuple[int, ...]] = (0, 1)
    writes: ClassVar[tuple[int, ...]] = (2,)


@dataclass(frozen=True, slots=True)
class Where(EffectOp):
    """``Where()(condition, then, otherwise, dst)``."""

    reads: ClassVar[tuple[int, ...]] = (0, 1, 2)
    writes: ClassVar[tuple[int, ...]] = (3,)
