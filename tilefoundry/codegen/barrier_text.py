"""A ``Sync`` as the runtime's one barrier call: its geometry as template arguments."""

from __future__ import annotations

from tilefoundry.ir.tir.barriers import Barrier, BarrierKind


def barrier_text(barrier: Barrier, counters: str) -> str:
    """The statement. `counters`: the kernel's argument that holds the counters of grid barriers."""
    match barrier.kind:
        case BarrierKind.CTA:
            return "ops::sync<SyncKind::cta>();"
        case BarrierKind.WARP:
            return f"ops::sync<SyncKind::warp, {barrier.base}, {barrier.count}, 0x{barrier.mask:08x}u>();"
        case BarrierKind.NAMED:
            return f"ops::sync<SyncKind::named, {barrier.base}, {barrier.count}, 0u, {barrier.bar_id}>();"
        case BarrierKind.GRID:
            return f"ops::sync<SyncKind::grid>(static_cast<unsigned*>({counters}.data));"
