"""Reading a compiled entry from the files that `write_artifact` wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tilefoundry.driver.native import CUBINS, ENTRIES, HOST
from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.runtime.loader import read_library


def read_artifact(library: Path, entry: str | None = None) -> LinkedModule:
    """What a library says about itself, with the key, the options and the sources that lie beside it, if they do.

    Args:
        entry: which of its entries; needed where it has several.

    Raises:
        FileNotFoundError, LibraryError, WrongValueError: as `read_library`.
    """
    linked = read_library(library, entry)
    keys: dict[str, str] = {}
    if (key_file := library.with_suffix(".key")).is_file():
        rows = [line.split() for line in key_file.read_text().splitlines()]
        keys = {arch: key for *owner, arch, key in rows if owner in ([], [linked.entry.name])}
    options: dict[str, bool | int | None] = {}
    if (description_file := library.with_suffix(".abi.json")).is_file():
        options = json.loads(description_file.read_text()).get("options", {})
    folder = library.with_suffix(".sources")
    # kernels first: they are what people look for
    kernels = [f"{kernel.name}.{suffix}" for kernel in linked.kernels for suffix in ("cc", "cu")]
    own = (*sorted(kernels), CUBINS, ENTRIES, f"{linked.entry.name}.{HOST}", HOST)
    sources = {name: (folder / name).read_text() for name in own if (folder / name).is_file()}
    return replace(linked, key=keys.get(linked.isa, ""), sources=sources, options=options)
