"""WgmmaSm90: one instruction of a warpgroup, where the target has it; elsewhere the product of the tiles."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import WgmmaSm90
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.matrix.instruction import lower_product
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(WgmmaSm90)
def lower_wgmma_sm90(ctx: Lowering, call: Call) -> Value:
    return lower_product(ctx, call)
