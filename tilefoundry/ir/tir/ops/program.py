"""The coordinates of the running instance, as i64 scalars."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.tir.ops.base import ValueOp


@dataclass(frozen=True, slots=True)
class ProgramId(ValueOp):
    """``ProgramId("cta")()``: linear id of the instance at a topology level."""

    level: str


@dataclass(frozen=True, slots=True)
class ProgramDim(ValueOp):
    """``ProgramDim("cta")()``: number of instances at a topology level (the launched grid, where that is dynamic)."""

    level: str


@dataclass(frozen=True, slots=True)
class Index(ValueOp):
    """``Index()(value)``: names an i64 scalar that several statements use."""
