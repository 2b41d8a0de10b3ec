"""The part of the entry that gives memory to what a call needs for itself."""

from __future__ import annotations

from tilefoundry.codegen.host.params import Tables
from tilefoundry.codegen.host.places import Places


def workspace_text(places: Places, tables: Tables, reuse: bool) -> list[str]:
    """Statements that place the tensors in one piece of memory, and take it.

    Args:
        reuse: a tensor may lie where others lay that no later launch takes. Checking mode tells tensors apart by their
            addresses.
    """
    if not places.workspace and not places.barriers:
        return []
    count = len(places.workspace) + bool(places.barriers)
    lines = [f"  host::Workspace<{count}> workspace;"]
    if places.barriers:
        lines.append(f"  workspace.counters({len(places.barriers)}, bound[{places.counters}]);")
    first, last = _lifetimes(places)
    for launch in range(len(places.units)):
        begins = sorted(place for place, when in first.items() if when == launch)
        lines += [_placed(places, tables, place) for place in begins]
        if reuse:
            ends = sorted(place for place, when in last.items() if when == launch)
            lines += [f"  workspace.release(bound[{place}]);" for place in ends]
    return [*lines, "  workspace.allocate(kEntry, device);"]


def taken(places: Places) -> list[int]:
    """The places of the tensors that launches take; a host function may allocate others."""
    return sorted(_lifetimes(places)[0])


def _lifetimes(places: Places) -> tuple[dict[int, int], dict[int, int]]:
    """By the place of a tensor: the first launch that takes it, and the last that takes its memory.

    The memory of a view is another tensor's, or the caller's.
    """
    begin = len(places.entry.params)
    memory = {begin + k: places.seen(p) for k, p in enumerate(places.shared) if p.name in places.views}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for launch, unit in enumerate(places.units):
        for _, place in places.of(unit):
            seen = [place]
            while seen[-1] in memory:
                seen.append(memory[seen[-1]])
            for own in seen:
                if own >= begin:
                    first.setdefault(own, launch)
            if seen[-1] >= begin:
                last[seen[-1]] = launch
    return first, last


def _placed(places: Places, tables: Tables, place: int) -> str:
    k = place - len(places.entry.params)
    param = places.workspace[k]
    extents = ", ".join(tables.dim(extent) for extent in param.type.shape)
    if k < len(places.shared) and param.name in places.views:
        return f"  workspace.view(bound[{places.seen(param)}], {{{extents}}}, bound[{place}]);"
    item = param.type.dtype.storage_bits // 8
    return f'  workspace.tensor("{param.name}", {{{extents}}}, {item}, bound[{place}]);'
