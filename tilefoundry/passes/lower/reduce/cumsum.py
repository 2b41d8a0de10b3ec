"""CumSum: running sums along an axis that instances hold whole."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import CumSum
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import operand
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(CumSum)
def lower_cumsum(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, CumSum)
    src = ctx.fragment(operand(call), call)
    dst = ctx.result(call, "sums")
    ctx.emit(tir.Scan(normalize_axis(call.target.axis, tensor_type(src).rank)), src, dst)
    return dst
