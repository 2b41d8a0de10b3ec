"""``tilefoundry cache``: upkeep of the compiled kernels on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from tilefoundry.driver import cache_upkeep

app = typer.Typer(no_args_is_help=True, help="The compiled kernels that jit keeps on disk.")

_Root = Annotated[
    Path | None, typer.Option("--dir", help="The folder of the cache; jit's own by default (TILEFOUNDRY_CACHE_DIR).")
]


@app.command()
def report(root: _Root = None) -> None:
    """Lists the entries, those used last first, with their sizes and ages."""
    found = cache_upkeep.report(root)
    if found.entries:
        table = Table("key", "entry", box=None, pad_edge=False)
        for title in ("bytes", "compiled", "used"):
            table.add_column(title, justify="right")
        for e in found.entries:
            table.add_row(e.key[:16], e.name, decimal(e.bytes), f"{_span(e.age)} ago", f"{_span(e.idle)} ago")
        Console(highlight=False).print(table)
    print(f"{len(found.entries)} entries, {decimal(found.bytes)} of {decimal(found.limit)}, in {found.root}")


@app.command()
def verify(root: _Root = None) -> None:
    """Compares every entry with its digests and removes the damaged ones; the status is 1 if there were some."""
    found = cache_upkeep.verify(root)
    for key, reason in found.damaged.items():
        print(f"removed {key[:16]}: {reason}")
    print(f"{found.intact} intact, {len(found.damaged)} damaged")
    if found.damaged:
        raise typer.Exit(1)


@app.command()
def clear(root: _Root = None) -> None:
    """Removes every entry."""
    before = cache_upkeep.clear(root)
    print(f"removed {len(before.entries)} entries, {decimal(before.bytes)}, from {before.root}")


def _span(seconds: float) -> str:
    """A time in the largest unit of which it has one."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
