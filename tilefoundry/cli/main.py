"""The command: its subcommands, and how errors end it."""

from __future__ import annotations

import os
import sys

import typer

from tilefoundry.cli import cache
from tilefoundry.cli.prepare import prepare
from tilefoundry.cli.script import script
from tilefoundry.cli.show import show
from tilefoundry.diagnostics import TileFoundryError

app = typer.Typer(name="tilefoundry", no_args_is_help=True, add_completion=False)
app.command()(show)
app.command()(script)
app.command()(prepare)
app.add_typer(cache.app, name="cache")


@app.callback()
def tilefoundry() -> None:
    """Tensor programs: what belongs to compiling and running them."""


def main() -> None:
    """Runs the command; an error that has a name is told without a traceback, with status 2."""
    try:
        if "BUILD_WORKING_DIRECTORY" in os.environ:  # `bazel run` starts it elsewhere
            os.chdir(os.environ["BUILD_WORKING_DIRECTORY"])
        app()
    except (TileFoundryError, OSError) as error:
        print(f"tilefoundry: {error}", file=sys.stderr)
        sys.exit(2)
