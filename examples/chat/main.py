"""Gemma 3 270M continues a text, token by token.

    bazel run //examples:chat -- "The three primary colours are"
    bazel run //examples:chat -- "Once upon a time" --backend torch --temperature 0.8 --top-p 0.95 --seed 7

The weights come quantised (Q4_K_M) from packages, and are dequantised into a directory of 1.1 GB: keep it with
--prepared. Exit code: 0 when the twin agrees with the evaluator, 1 when it does not, 2 for options that make no sense.
"""

from __future__ import annotations

import tempfile
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from examples.chat.checkpoint import assemble
from examples.chat.model import Chat, is_prepared, load, prepare
from tilefoundry.runtime import Generation, Sampling, generate


class Backend(StrEnum):
    """What runs the model."""

    evaluator = "evaluator"
    torch = "torch"


app = typer.Typer(add_completion=False)


@app.command()
def main(
    prompt: Annotated[str, typer.Argument(help="The text to continue.")] = "The three primary colours are",
    backend: Annotated[Backend, typer.Option(help="The evaluator, or the twin on torch.")] = Backend.evaluator,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="How many tokens at most.")] = 32,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token.")] = 0.0,
    top_k: Annotated[int | None, typer.Option(help="Draw from this many of the likeliest tokens.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Draw from the likeliest tokens of this probability.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    prepared: Annotated[
        Path | None, typer.Option(help="Where prepared weights are kept; made when there are none.")
    ] = None,
) -> None:
    """Prepare the weights, hold the torch twin against the evaluator on the prompt, and continue it."""
    if not prompt:
        raise typer.BadParameter("the prompt is empty")
    console = Console(highlight=False, soft_wrap=True)
    try:
        sampling = Sampling(temperature, top_k, top_p, seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with tempfile.TemporaryDirectory() as scratch:
        directory = prepared or Path(scratch)
        if not is_prepared(directory):
            began = time.perf_counter()
            prepare(assemble(Path(scratch, "model.gguf")), directory)
            size = sum(file.stat().st_size for file in (directory / "weights").iterdir()) / 1e6
            console.print(f"prepared  {size:.0f} MB of weights in {time.perf_counter() - began:.1f} s")
        chat = load(directory)
        try:
            ids = chat.encode(prompt)
            model = chat.loaded if backend is Backend.evaluator else chat.twin
            run = generate(model, ids, max_new_tokens=max_new_tokens, sampling=sampling, stop=chat.stop)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        report = chat.compare(ids)
        console.print(f"check     {report}\n", markup=False)
        stream(console, chat, ids, run)
    console.print(
        f"\n\n{len(run.tokens)} tokens by {backend.value}, {run.tokens_per_second:.1f} tokens/s "
        f"after a prompt of {len(ids)} at {run.prompt_tokens_per_second:.1f} tokens/s"
    )
    raise typer.Exit(0 if report.passed else 1)


def stream(console: Console, chat: Chat, prompt: list[int], run: Generation) -> None:
    """Prints the text while it is made. A character may need several tokens: it is printed when it is whole."""
    shown = chat.tokenizer.decode(prompt)
    console.print(shown, style="bold", end="", markup=False)
    for _ in run:
        text = chat.tokenizer.decode(prompt + run.tokens)
        if not text.endswith("\N{REPLACEMENT CHARACTER}"):
            console.print(text[len(shown) :], end="", markup=False)
            shown = text


if __name__ == "__main__":
    app()
