"""``tilefoundry prepare``: a checkpoint that holds what a Module declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from tilefoundry.cli.objects import OBJECT, find, module_of
from tilefoundry.diagnostics import WrongTypeError

if TYPE_CHECKING:
    from tilefoundry.runtime.resource.alias import AliasValue


def prepare(
    spelling: OBJECT,
    checkpoint: Annotated[Path, typer.Argument(help="A folder of safetensors files.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="The folder to make.", show_default=False)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that has content.")] = False,
    alias: Annotated[
        str | None,
        typer.Option(metavar="OBJECT", help="The table from declared names to those of the checkpoint."),
    ] = None,
) -> None:
    """Writes the weights that a Module declares, from somebody's checkpoint, once."""
    module = module_of(find(spelling), spelling, "prepare")
    names = None if alias is None else _table(alias)
    from tilefoundry.runtime.resource import SafetensorsResource

    with SafetensorsResource(checkpoint, device="cpu", alias=names) as raw:
        module.prepare(raw, target, overwrite=overwrite)
    files = list(target.glob("*.safetensors"))
    print(f"wrote {decimal(sum(f.stat().st_size for f in files))} to {target}")


def _table(spelling: str) -> dict[str, AliasValue]:
    found = find(spelling)
    if not isinstance(found, Mapping):
        raise WrongTypeError(
            f"--alias: expected a mapping of names, got '{spelling}' of type {type(found).__name__}",
            remedy='write a dict such as {"layer0": "h.0"}',
        )
    return dict(found)
