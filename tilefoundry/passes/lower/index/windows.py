"""Operands that lie in memory, as TIR takes them, and who writes a result there."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.shard import Broadcast, Layout, ShardLayout
from tilefoundry.ir.tir import EffectOp
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.values import Scalar, Window

WindowArgs = tuple[Var, Tuple, Tuple]


def in_memory(ctx: Lowering, expr: Expr) -> Window | None:
    """A global tensor, a window of one, or a shared tile, as a window; None for anything else."""
    window = whole(ctx, expr)
    if window is not None:
        return window
    value = ctx.lower(expr)
    return of_tile(value) if isinstance(value, Var) and tensor_type(value).storage is StorageKind.SMEM else None


def of_tile(tile: Var) -> Window:
    """A shared tile as the whole window of itself."""
    shape = tensor_type(tile).shape
    return Window(tile, (0,) * len(shape), shape)


def memory_operand(ctx: Lowering, call: Call, name: str, expr: Expr) -> Window:
    """An operand that must lie in memory; anything else is refused."""
    window = in_memory(ctx, expr)
    if window is None:
        ctx.refuse(
            call,
            f"expected '{name}' as a global tensor, a window of one or a shared tile, got "
            f"{ctx.describe(ctx.lower(expr))}",
            remedy="pass it as a parameter, or stage all operands: tf.reshard(x, <shape>, 'smem')",
        )
    return window


def index_fragment(ctx: Lowering, call: Call, index: Expr, peer: TensorType) -> Var:
    """An index tensor in registers. One whose layout names no mesh is held whole by every instance of its peer's."""
    match index:
        case Call(target=Reshard(), args=(source,)) if not isinstance(tensor_type(index).layout, ShardLayout):
            assert isinstance(peer.layout, ShardLayout)  # a fragment's
            mesh = peer.layout.mesh
            layout = ShardLayout(Layout(tensor_type(index).shape), (Broadcast(),) * mesh.rank, mesh)
            index = Call(Reshard(layout, StorageKind.RMEM), (source,), metadata=index.metadata)
    return ctx.fragment(index, call)


def window_args(window: Window) -> WindowArgs:
    """A window as three operands of TIR."""
    extents: tuple[Scalar, ...] = tuple(window.sizes[axis] for axis in window.kept)
    return window.tensor, Tuple(tuple(window.starts)), Tuple(extents)


def in_registers(fragment: Var) -> WindowArgs:
    """A fragment in the place of a window."""
    return fragment, Tuple(()), Tuple(())


def flat(*operands: WindowArgs) -> tuple[Expr, ...]:
    """The operands one after the other."""
    return tuple(part for operand in operands for part in operand)


def emit_on_windows(ctx: Lowering, op: EffectOp, windows: Sequence[Window], *rest: Scalar) -> None:
    """Appends an effect on windows."""
    ctx.emit(op, *flat(*map(window_args, windows)), *rest)
