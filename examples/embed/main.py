"""Semantic search with all-MiniLM-L6-v2: sentences ranked by what they mean.

    bazel run //examples:embed
    bazel run //examples:embed -- "How do I bake bread?" "A recipe for sourdough." "The train leaves at nine."

The first sentence is the question, the others are searched. Exit code: 0 when the twin agrees with the evaluator, 1
when it does not, 2 for arguments that make no sense.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from examples.embed.model import compare, embed, is_prepared, load, prepare

QUESTION = "How do I keep my bread from going stale?"
SENTENCES = (
    "Store a loaf in a paper bag, cut side down, and it stays fresh for days.",
    "The train to the coast leaves every morning at nine.",
    "Sourdough keeps longer than white bread, since its acids slow the starch.",
    "Our dog is afraid of thunderstorms.",
    "Freeze slices of it, and toast them straight from the freezer.",
    "The committee postponed its decision on the new bridge.",
)

app = typer.Typer(add_completion=False)


@app.command()
def main(
    sentences: Annotated[list[str] | None, typer.Argument(help="The question, then the sentences to search.")] = None,
    prepared: Annotated[
        Path | None, typer.Option(help="Where prepared weights are kept; made when there are none.")
    ] = None,
) -> None:
    """Embed sentences on the evaluator, hold the torch twin against it, and rank them by similarity."""
    question, *corpus = sentences or (QUESTION, *SENTENCES)
    if not corpus:
        raise typer.BadParameter("give a question and at least one sentence", param_hint="SENTENCES")
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory() as scratch:
        directory = prepared or Path(scratch, "prepared")
        if not is_prepared(directory):
            began = time.perf_counter()
            prepare(directory)
            size = sum(file.stat().st_size for file in directory.iterdir()) / 1e6
            console.print(f"prepared  {size:.0f} MB of weights in {time.perf_counter() - began:.1f} s")
        loaded, twin = load(directory)
        try:
            report = compare(loaded, twin, question)
            began = time.perf_counter()
            vectors = embed(loaded, [question, *corpus])
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="SENTENCES") from error
        took = time.perf_counter() - began
    console.print(f"check     {report}", markup=False)
    console.print(f"embedded  {len(vectors)} sentences, {vectors.shape[1]} numbers each, in {took:.2f} s\n")
    console.print(question, style="bold", markup=False)
    scores = (vectors[1:] @ vectors[0]).tolist()
    for score, sentence in sorted(zip(scores, corpus, strict=True), reverse=True):
        console.print(f"  {score:6.3f}  {sentence}", markup=False)
    raise typer.Exit(0 if report.passed else 1)


if __name__ == "__main__":
    app()
