"""Layers of four models, written in the tensor language, against plain torch.

    bazel run //examples:models
    bazel run //examples:models -- --batch 1 --length 128

Exit code: 0 when every model keeps its bounds, 1 when one does not, 2 for options that make no sense.
"""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from examples.models.compare import F64_BOUND, RELATIVE_BOUNDS, compare
from examples.models.suite import layers

app = typer.Typer(add_completion=False)


@app.command()
def main(
    batch: Annotated[int, typer.Option(min=1, max=1024, help="Sequences.")] = 2,
    length: Annotated[int, typer.Option(min=1, max=512, help="Tokens of each.")] = 33,
    seed: Annotated[int, typer.Option(min=0, help="Of weights and tokens.")] = 0,
) -> None:
    """Run one layer of each model, of its released size, on random weights and tokens."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    for name in ("parameters", "f64, max", *(f"{dtype}, relative" for dtype in RELATIVE_BOUNDS), "f32 call", ""):
        table.add_column(name, justify="right")
    results = [(model.title, compare(model, batch, length, seed)) for model in layers()]
    for title, errors in results:
        table.add_row(
            title,
            f"{errors.parameters:,}",
            f"{errors.f64:.1e}",
            *(f"{errors.relative[dtype]:.1e}" for dtype in RELATIVE_BOUNDS),
            f"{errors.seconds * 1e3:.0f} ms",
            "PASS" if errors.passed else "FAIL",
        )
    table.add_section()
    table.add_row("bounds", "", f"{F64_BOUND:.0e}", *(f"{bound:.0e}" for bound in RELATIVE_BOUNDS.values()), "", "")
    console = Console(highlight=False, width=120)
    console.print(f"errors against plain torch in f64, on {batch} x {length} tokens")
    console.print(table)
    raise typer.Exit(0 if all(errors.passed for _, errors in results) else 1)


if __name__ == "__main__":
    app()
