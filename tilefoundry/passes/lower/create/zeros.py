"""Zeros: one number, until a reshard or a loop over an output says where."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Zeros
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Uniform, Value


@lowers(Zeros)
def lower_zeros(ctx: Lowering, call: Call) -> Value:
    return Uniform(0)
