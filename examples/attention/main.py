"""Attention by TileFoundry on the first layer of a real model, checked and timed.

    bazel run //examples:attention
    bazel run //examples:attention -- --text "Any sentence." --causal --dtype bf16
    bazel run //examples:attention -- --seq 1000 --heads 8 --dim 128

Exit code: 0 when every check passed, 1 when one failed, 2 for options that make no sense.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
import typer
from rich.console import Console

from examples.attention.model import first_layer
from examples.attention.program import DTYPES, HEAD_DIMS
from examples.attention.reference import TORCH_DTYPES
from examples.attention.session import Problem, run

DEFAULT_TEXT = "The animal did not cross the street because it was too tired."
_SIZES = {"batch": 1, "heads": 12, "seq": 256, "dim": 64}

app = typer.Typer(add_completion=False)


@app.command()
def main(
    target: Annotated[str, typer.Option(help="auto, cpu or cuda; auto takes a GPU when there is one.")] = "auto",
    text: Annotated[str | None, typer.Option(help="The sentence whose first layer is computed.")] = None,
    seq: Annotated[int | None, typer.Option(help="Random input instead: tokens, at least 1.")] = None,
    heads: Annotated[int | None, typer.Option(help="Random input: heads.")] = None,
    dim: Annotated[int | None, typer.Option(help=f"Random input: head dimension, one of {HEAD_DIMS}.")] = None,
    batch: Annotated[int | None, typer.Option(help="Random input: batch.")] = None,
    causal: Annotated[bool, typer.Option("--causal", help="Each token sees itself and the tokens before it.")] = False,
    dtype: Annotated[str, typer.Option(help="f32, f16 or bf16.")] = "f32",
) -> None:
    """Compile attention, run it on a sentence (or on random input of a given size), check it and time it."""
    if dtype not in DTYPES:
        raise typer.BadParameter(f"expected one of {', '.join(DTYPES)}, got {dtype!r}", param_hint="--dtype")
    chosen = _target(target)
    device = torch.device("cuda", torch.cuda.current_device()) if chosen == "cuda" else torch.device("cpu")
    sizes = {"batch": batch, "heads": heads, "seq": seq, "dim": dim}
    given = {name: size for name, size in sizes.items() if size is not None}
    if given and text is not None:
        raise typer.BadParameter("give a sentence or sizes, not both", param_hint=f"--text, --{min(given)}")
    problem = _random(given, dtype, causal, device) if given else _sentence(text, dtype, causal, device)
    raise typer.Exit(0 if run(problem, chosen, Console(highlight=False)) else 1)


def _target(name: str) -> Literal["cpu", "cuda"]:
    match name:
        case "cpu":
            return "cpu"
        case "cuda" if not torch.cuda.is_available():
            why = "this torch was built without CUDA" if torch.version.cuda is None else "no GPU was found"
            raise typer.BadParameter(f"{why}; use --target cpu", param_hint="--target")
        case "cuda":
            return "cuda"
        case "auto":
            return "cuda" if torch.cuda.is_available() else "cpu"
    raise typer.BadParameter(f"expected auto, cpu or cuda, got {name!r}", param_hint="--target")


def _random(given: dict[str, int], dtype: str, causal: bool, device: torch.device) -> Problem:
    """Normal q, k and v of the given sizes, the same ones every time."""
    for name, size in given.items():
        if name == "dim" and size not in HEAD_DIMS:
            raise typer.BadParameter(
                f"expected one of {', '.join(map(str, HEAD_DIMS))}, got {size}", param_hint="--dim"
            )
        if size < 1:
            raise typer.BadParameter(f"expected at least 1, got {size}", param_hint=f"--{name}")
    sizes = _SIZES | given
    shape = (sizes["batch"] * sizes["heads"], sizes["seq"], sizes["dim"])
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(shape, generator=generator).to(device, TORCH_DTYPES[dtype]) for _ in range(3))
    title = "random, batch {batch} × heads {heads} × seq {seq} × dim {dim}".format(**sizes)
    return Problem(title, q, k, v, dtype, causal)


def _sentence(text: str | None, dtype: str, causal: bool, device: torch.device) -> Problem:
    text = DEFAULT_TEXT if text is None else text
    try:
        layer = first_layer(text, device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--text") from error
    q, k, v = (x.to(TORCH_DTYPES[dtype]) for x in (layer.q, layer.k, layer.v))
    return Problem(f"all-MiniLM-L6-v2, layer 0: {text!r}", q, k, v, dtype, causal, layer.tokens)


if __name__ == "__main__":
    app()
