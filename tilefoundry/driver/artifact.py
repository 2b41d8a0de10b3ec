"""A compiled entry as files: ``<name>.so``, ``<name>.key`` and ``<name>.sources/``, in a cache entry or from Bazel."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.driver.build import build_library
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.runtime.loader import read_library


def write_artifact(
    module: LinkableModule, options: CompilerOptions, folder: Path, name: str, keys: Mapping[str, str]
) -> Path:
    """Builds `module` and writes its files into `folder`; returns the library.

    Args:
        keys: compile architecture or instruction set to key; a CUDA library holds a cubin for each.

    Raises:
        CompileError: a compiler is missing or failed.
    """
    # next to the result: moving it is then a rename, and a full disk is found here
    with tempfile.TemporaryDirectory(prefix="work.", dir=folder) as work:
        library, sources = build_library(module, options, Path(work), f"{name}.so", tuple(keys))
        shutil.move(library, folder / library.name)
    (folder / f"{name}.key").write_text("".join(f"{arch} {key}\n" for arch, key in keys.items() if key))
    (folder / f"{name}.sources").mkdir()
    for file, text in sources.items():
        (folder / f"{name}.sources" / file).write_text(text)
    return folder / library.name


def read_artifact(library: Path) -> LinkedModule:
    """What a library says about itself, with the key and the sources that lie beside it, if they do.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: it does not load, or is not one of TileFoundry's.
    """
    linked = read_library(library)
    keys: dict[str, str] = {}
    if (key_file := library.with_suffix(".key")).is_file():
        keys = dict(line.split() for line in key_file.read_text().splitlines())
    folder = library.with_suffix(".sources")
    # kernels first: they are what people look for
    files = sorted(folder.iterdir(), key=lambda p: (p.name in ("host_entry.cc", "cubins.S"), p.name)) if folder.is_dir() else []
    return replace(linked, key=keys.get(linked.isa, ""), sources={p.name: p.read_text() for p in files})
