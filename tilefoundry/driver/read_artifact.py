"""Reading a compiled entry from the files that `write_artifact` wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.runtime.loader import read_library


def read_artifact(library: Path) -> LinkedModule:
    """What a library says about itself, with the key, the options and the sources that lie beside it, if they do.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: it does not load, or is not one of TileFoundry's.
    """
    linked = read_library(library)
    keys: dict[str, str] = {}
    if (key_file := library.with_suffix(".key")).is_file():
        keys = dict(line.split() for line in key_file.read_text().splitlines())
    options: dict[str, bool | int | None] = {}
    if (description_file := library.with_suffix(".abi.json")).is_file():
        options = json.loads(description_file.read_text()).get("options", {})
    folder = library.with_suffix(".sources")
    # kernels first: they are what people look for
    files = (
        sorted(folder.iterdir(), key=lambda p: (p.name in ("host_entry.cc", "cubins.S"), p.name))
        if folder.is_dir()
        else []
    )
    sources = {p.name: p.read_text() for p in files}
    return replace(linked, key=keys.get(linked.isa, ""), sources=sources, options=options)
