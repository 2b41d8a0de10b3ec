"""Global tensors that a kernel, or a host function, allocates for itself: the host gives them memory at each call."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.tir.barriers import BarrierKind, classify_sync
from tilefoundry.ir.types import StorageKind


def is_workspace(value: Expr) -> bool:
    """Whether a value that is bound is a global tensor, freshly allocated."""
    return (
        isinstance(value, Call)
        and isinstance(value.target, tir.AllocTensor)
        and value.target.tensor_type.storage is StorageKind.GMEM
    )


def workspace_of(fn: tir.PrimFunction) -> tuple[Var, ...]:
    """The global tensors that `fn` allocates, in program order. All of its CTAs see the same ones."""
    items = tir.items_within(tir.unfold(fn.body))
    return tuple(item.var for item in items if isinstance(item, tir.Binding) and is_workspace(item.value))


def views_of(fn: tir.PrimFunction) -> dict[Var, Var]:
    """The global tensors of a host function that are others under other extents: each with what it is a view of."""
    found: dict[Var, Var] = {}
    for item in tir.unfold(fn.body):
        match item:
            case tir.Binding(var, Call(target=tir.TensorView(), args=(Var() as memory,))):
                found[var] = memory
    return found


def has_grid_barrier(fn: tir.PrimFunction) -> bool:
    """Whether all CTAs of a kernel meet somewhere, so that all of them must be resident."""
    return any(
        isinstance(item, tir.Evaluate)
        and isinstance(item.callable, tir.Sync)
        and item.callable.mesh is not None
        and classify_sync(item.callable.mesh).kind is BarrierKind.GRID
        for item in tir.items_within(tir.unfold(fn.body))
    )
