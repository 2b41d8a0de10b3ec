"""``tilefoundry show``: a Module at a glance."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tilefoundry.cli.describe import Description, describe
from tilefoundry.cli.objects import OBJECT, find, module_of
from tilefoundry.viewer.page import PICTURED, page

# Beyond a terminal nothing is folded, so that other programs find one row on one line.
_UNFOLDED = 100_000


def show(
    spelling: OBJECT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write pictures instead: an HTML page; of layouts, too.")
    ] = None,
) -> None:
    """Says what a Module takes and holds: entry, weights, children, topologies and target."""
    found = find(spelling)
    if html is not None:
        text = page(found if isinstance(found, PICTURED) else module_of(found, spelling, "show"))
        html.write_text(text, encoding="utf-8")
        print(f"wrote {len(text.encode())} bytes to {html}")
        return
    description = describe(module_of(found, spelling, "show"))
    if as_json:
        print(json.dumps(asdict(description), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _UNFOLDED)
    for i, table in enumerate(_tables(description)):
        if i:
            console.print()
        console.print(table)


def _tables(module: Description) -> Iterator[Table]:
    head = _table()
    head.add_row("module", module.name)
    head.add_row("entry", module.entry.name if module.entry is not None else "none")
    head.add_row("functions", ", ".join(module.functions) or "none")
    if module.methods:
        head.add_row("methods", ", ".join(module.methods))
    head.add_row("topologies", ", ".join(f"{level.name} {level.size}" for level in module.topologies) or "none")
    head.add_row("target", module.target or "none")
    yield head
    if module.entry is not None:
        table = _table("parameter", "role", "type")
        for p in module.entry.parameters:
            table.add_row(p.name, p.role, p.type)
        if module.entry.result is not None:
            table.add_row("", "result", module.entry.result)
        yield table
    nodes = list(_walk(module, ""))
    if any(node.weights for _, node in nodes):
        table = _table("weight", "type")
        for path, node in nodes:
            for w in node.weights:
                table.add_row(path + w.name, w.type)
        yield table
    if module.children:
        table = _table("child", "entry", "functions")
        for path, node in nodes[1:]:
            table.add_row(path[:-1], node.entry.name if node.entry is not None else "none", ", ".join(node.functions))
        yield table


def _table(*titles: str) -> Table:
    table = Table(*titles, box=None, pad_edge=False, show_header=bool(titles))
    for column in table.columns:
        column.overflow = "fold"  # what does not fit is not cut off
    return table


def _walk(node: Description, path: str) -> Iterator[tuple[str, Description]]:
    """Each node below one, and itself, with what the names of its weights have before them in a checkpoint."""
    yield path, node
    for child in node.children:
        yield from _walk(child, f"{path}{child.name}.")
