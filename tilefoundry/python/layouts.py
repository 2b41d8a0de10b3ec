"""Layouts and meshes as authors write them."""

from __future__ import annotations

import ast

from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    Placed,
    ShardLayout,
    Topology,
    ValueState,
    axis_levels,
    layout_from_sugar,
    make_mesh,
)
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Index, StateSet, Window, as_index, describe, is_index

AnyLayout = Layout | ComposedLayout | ShardLayout


def resolve_layout(p: Parser, node: ast.AST, value: object) -> AnyLayout | None:
    """The layout that an author's value means.

    Forms: a layout object; entries ``(4 @ t.w, 64)``; ``((entries), (strides))``; either with value states last,
    ``((entries), {t.w @ P("sum")})``.
    """
    if value is None or isinstance(value, (Layout, ComposedLayout, ShardLayout)):
        return value
    parts = value if isinstance(value, tuple) else (value,)
    states: StateSet | None = None
    if parts and isinstance(parts[-1], (StateSet, set, frozenset)):
        states, parts = _states(p, node, parts[-1]), parts[:-1]
        if len(parts) == 1 and isinstance(parts[0], tuple):
            parts = parts[0]
    strides: tuple[Index, ...] | None = None
    if len(parts) == 2 and isinstance(parts[0], tuple) and isinstance(parts[1], tuple):
        strides = tuple(_stride(p, node, s) for s in parts[1])
        parts = parts[0]
    entries = tuple(_entry(p, node, e) for e in parts)
    for axis in _named_axes(entries, states):
        if axis.mesh not in p.meshes and not p.resolver.in_annotation:
            p.refuse(
                node, f"mesh axis '{axis.name}' is not in scope here", "open it around this: 'with Mesh(...) as m:'"
            )
    pairs = []
    for state in states.states if states is not None else ():
        partial = state.state() if state.state is Partial else state.state
        if not isinstance(partial, Partial):
            p.refuse(
                node,
                f"expected a Partial after '@' in a value state, got {describe(state.state)}",
                'write {m.axis @ P("sum")}; a mesh axis that is not named is Broadcast',
            )
        pairs.append((state.axis, partial))
    with p.located(node):
        return layout_from_sugar(entries, tuple(pairs), strides, tuple(p.meshes))


def _states(p: Parser, node: ast.AST, written: StateSet | set[object] | frozenset[object]) -> StateSet:
    """The value states of a layout; a set, where Python evaluated an annotation."""
    if isinstance(written, StateSet):
        return written
    found = [state for state in written if isinstance(state, ValueState)]
    if len(found) != len(written):
        p.refuse(node, "expected value states in braces", 'write {m.axis @ P("sum")}')
    return StateSet(tuple(sorted(found, key=lambda state: state.axis.axis)))


def _named_axes(entries: tuple[Index | Placed, ...], states: StateSet | None) -> list[MeshAxis]:
    placed = [axis for entry in entries if isinstance(entry, Placed) for axis in entry.axes]
    return placed + [state.axis for state in (states.states if states is not None else ())]


def _entry(p: Parser, node: ast.AST, entry: object) -> Index | Placed:
    if isinstance(entry, Placed):
        return entry
    if is_index(entry) and not isinstance(entry, Window):
        return as_index(entry)
    p.refuse(
        node,
        f"expected an extent or 'extent @ mesh.axis' in a layout, got {describe(entry)}",
        remedy="write a layout as (4 @ m.x, 64), or as ((shape), (strides))",
    )


def _stride(p: Parser, node: ast.AST, stride: object) -> Index:
    if not is_index(stride) or isinstance(stride, Window):
        p.refuse(
            node,
            f"expected an int as a stride, got {describe(stride)}",
            "write one int for each entry: ((4 @ m.x, 64), (64, 1))",
        )
    return as_index(stride)


def build_mesh(p: Parser, node: ast.Call, positional: list[object], keywords: dict[str, object]) -> Mesh:
    """``Mesh(("thread",), (4, 32), ("w", "l"))``: topologies by declared name, layout by shape or object."""
    order = ("topologies", "layout", "names")
    given = dict(zip(order, positional, strict=False))
    if len(positional) > len(order):
        p.refuse(
            node,
            f"Mesh takes 3 arguments (topologies, layout, names), got {len(positional)}",
            'write Mesh(("thread",), (4, 32), ("w", "l"))',
        )
    for keyword, value in keywords.items():
        if keyword not in order or keyword in given:
            p.refuse(node, f"Mesh: unexpected argument '{keyword}'", "Mesh takes topologies, layout and names")
        given[keyword] = value
    if "topologies" not in given or "layout" not in given:
        p.refuse(node, "Mesh needs topologies and a layout", 'write Mesh(("thread",), (4, 32), ("w", "l"))')
    topologies = given["topologies"]
    if not isinstance(topologies, tuple):
        p.refuse(
            node,
            f"expected a tuple of topology names, got {describe(topologies)}",
            remedy=f"write Mesh(({topologies!r},), ...)"
            if isinstance(topologies, str)
            else 'write Mesh(("thread",), (4, 32), ("w", "l"))',
        )
    names = given.get("names", ())
    if not isinstance(names, tuple) or not all(isinstance(n, str) for n in names):
        p.refuse(node, f"expected a tuple of axis names, got {describe(names)}", 'write e.g. ("x", "y")')
    layout = given["layout"]
    levels = tuple(_topology(p, node, t) for t in topologies)
    with p.located(node):
        if isinstance(layout, (Layout, ComposedLayout)):
            return Mesh(levels, layout, names)
        if not isinstance(layout, tuple) or not all(is_index(e) and not isinstance(e, Window) for e in layout):
            p.refuse(
                node,
                f"expected mesh extents such as (4, 32), or a Layout, got {describe(layout)}",
                "write one extent for each axis, as a tuple",
            )
        mesh = Mesh(levels, make_mesh(tuple(as_index(e) for e in layout)).layout, names)
        axis_levels(mesh)  # refuses axes that do not multiply to the levels' sizes
        return mesh


def _topology(p: Parser, node: ast.AST, value: object) -> Topology:
    if isinstance(value, Topology):
        return value
    if not isinstance(value, str):
        p.refuse(node, f"expected a topology name, got {describe(value)}", 'write e.g. ("cta",) or ("thread",)')
    declared = p.session.topologies or ()
    for topology in declared:
        if topology.name == value:
            return topology
    p.refuse(
        node,
        f"topology '{value}' not declared; available levels: {', '.join(t.name for t in declared) or 'none'}",
        remedy=f'declare it: topologies=(Topology("{value}", ...),) on @module, or on @func for a single function; '
        "a child module is parsed before its owner is known, and names its levels itself",
    )
