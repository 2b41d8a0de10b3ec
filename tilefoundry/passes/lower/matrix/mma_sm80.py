"""MmaSm80: one instruction of a warp on fragments, which every target runs."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import MmaSm80
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.matrix.instruction import lower_product
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(MmaSm80)
def lower_mma_sm80(ctx: Lowering, call: Call) -> Value:
    return lower_product(ctx, call)
