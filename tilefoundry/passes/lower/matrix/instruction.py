"""What the ops that are one matrix instruction share."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import MmaSm80, WgmmaSm90
from tilefoundry.ir.shard import Layout, Mesh, ShardLayout
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import operand


def is_instruction(expr: Expr) -> bool:
    """Whether ``expr`` is the product of one instruction."""
    return isinstance(expr, Call) and isinstance(expr.target, (MmaSm80, WgmmaSm90))


def lower_product(ctx: Lowering, call: Call) -> Var:
    """The product, in registers of its own."""
    acc = ctx.result(call, "acc")
    ctx.emit(tir.Fill(0), acc)
    add_product(ctx, call, acc)
    return acc


def add_product(ctx: Lowering, call: Call, acc: Var) -> None:
    """Emits the instruction that adds a product onto registers."""
    mesh = _whole_mesh(ctx, call)
    operands = (operand(call, 0), operand(call, 1))
    held = [
        ctx.fragment(x, call) if tensor_type(x).storage is StorageKind.RMEM else ctx.shared(x, call) for x in operands
    ]
    # The runtime issues a warpgroup's instruction by itself, for tiles that lie as that reads them.
    op = tir.Mma(call.target.atom if isinstance(call.target, MmaSm80) else None)
    ctx.items.append(tir.MeshScope(mesh, None, tir.Evaluate(op, (acc, *held))))


def _whole_mesh(ctx: Lowering, call: Call) -> Mesh:
    """The threads that run the instruction together, which must be those of a CTA."""
    layout = tensor_type(call).layout
    assert isinstance(layout, ShardLayout)
    if not isinstance(layout.mesh.layout, Layout):
        ctx.refuse(
            call,
            f"an instruction of a part of the CTA's threads cannot be compiled: they are {layout.mesh.layout}",
            remedy="let the CTA have the threads of one instruction, or multiply shared tiles by tf.matmul, which all "
            "warps share",
        )
    return layout.mesh
