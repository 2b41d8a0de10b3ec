"""Running sums and order along an axis as calls of the runtime's ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefoundry.codegen.index_text import share_text, windows_text
from tilefoundry.codegen.types import int_text
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr

if TYPE_CHECKING:
    from tilefoundry.codegen.body import Body

Args = tuple[Expr, ...]


def scan_text(body: Body, op: tir.Scan, args: Args) -> str:
    """``ops::scan<op::sum, axis>(src, dst, axis)``."""
    src, dst = map(body.tensor, args)
    return f"ops::scan<op::sum, {op.axis}>({src}, {dst}, {int_text(op.axis)}{{}});"


def topk_text(body: Body, op: tir.TopK, args: Args) -> str:
    """``ops::topk<largest>(src, values, indices, axis, share)``."""
    operands = [*windows_text(body, op, args), f"{int_text(op.axis)}{{}}", share_text(op)]
    return f"ops::topk<{'true' if op.largest else 'false'}>({', '.join(operands)});"
