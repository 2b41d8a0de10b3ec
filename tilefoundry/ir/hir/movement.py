"""What the ops that move elements without computing on them share: whole axes, and how Partial values pass."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.hir.derive import known_placement
from tilefoundry.ir.hir.modes import modes_of
from tilefoundry.ir.shard import Broadcast, Dynamic, Partial, ShardAttr, ShardLayout
from tilefoundry.ir.types import TensorType


def is_split(t: TensorType, axis: int) -> bool:
    """Whether the mesh may split this axis. A mode that straddles axes, or is Dynamic, counts for all of them."""
    if not isinstance(t.layout, ShardLayout):
        return False
    if any(isinstance(attr, Dynamic) for attr in t.layout.attrs):
        return True
    modes = modes_of(t.layout, t.shape)
    if modes is None:
        return True
    return any(mode.axes for mode in modes[axis])


def whole_axis(ctx: TypeContext, name: str, t: TensorType, axis: int, why: str) -> None:
    """Refuses an operand whose `axis` is split over the mesh.

    Args:
        why: what the op does along the axis, as in "joined".
    """
    known_placement(name, t)
    if is_split(t, axis):
        ctx.error(
            f"axis {axis} of '{name}' is split over the mesh and cannot be {why}",
            "tf.reshard it first, so that each unit holds the whole axis",
        )


def carried(states: Sequence[ShardAttr]) -> Partial | None:
    """Elements of the first operand move: its Partial passes where all others are replicated."""
    moved, *others = states
    passes = isinstance(moved, Partial) and all(isinstance(other, Broadcast) for other in others)
    return moved if passes and isinstance(moved, Partial) else None


def uniform(states: Sequence[ShardAttr]) -> Partial | None:
    """Elements of all operands move: a Partial passes where all of them have it."""
    first = states[0]
    return first if isinstance(first, Partial) and all(s == first for s in states) else None


def complete(ctx: TypeContext, name: str, t: TensorType) -> None:
    """Refuses an operand that is Partial over a mesh axis."""
    if isinstance(t.layout, ShardLayout):
        for axis, attr in enumerate(t.layout.attrs):
            if isinstance(attr, Partial):
                mesh = t.layout.mesh
                ctx.error(
                    f"'{name}' is {attr} along mesh axis '{mesh.names[axis] if mesh.names else axis}' and cannot pass "
                    "through in that state",
                    "complete it first by an explicit tf.reshard",
                )
