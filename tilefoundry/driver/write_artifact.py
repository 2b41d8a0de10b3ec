"""Writing a library: ``<name>.so``, ``<name>.key``, ``<name>.abi.json`` and ``<name>.sources/``.

A cache entry and the outputs of the Bazel rules have the same form. Needs no loader.

A library of one entry has lines ``<arch> <key>`` in its key file, and the entry's description. A library of several has
lines ``<entry> <arch> <key>``, and a table of descriptions by entry.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tilefoundry.codegen.host import describe_module
from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.driver.native import Contents, build_library
from tilefoundry.driver.options import CompilerOptions


def write_artifact(
    module: LinkableModule, options: CompilerOptions, folder: Path, name: str, keys: Mapping[str, str]
) -> Path:
    """Builds the library of one entry and writes its files into `folder`; returns the library.

    Args:
        keys: compile architecture or instruction set to key; a CUDA library holds a cubin for each.

    Raises:
        CompileError: a compiler is missing or failed.
    """
    lines = [f"{arch} {key}\n" for arch, key in keys.items() if key]
    description = {**describe_module(module), "options": asdict(options)}
    return _write(module, options, folder, name, tuple(keys), lines, description)


def write_library(
    modules: Sequence[LinkableModule],
    options: CompilerOptions,
    folder: Path,
    name: str,
    keys: Mapping[str, Mapping[str, str]],
) -> Path:
    """Builds the library of several entries and writes its files into `folder`; returns the library.

    Args:
        modules: for one target, each emitted under its export.
        keys: entry to compile architecture or instruction set to key; every entry has the same architectures.

    Raises:
        CompileError: a compiler is missing or failed.
    """
    lines = [f"{entry} {arch} {key}\n" for entry, by_arch in keys.items() for arch, key in by_arch.items()]
    description = {"entries": {m.entry.name: describe_module(m) for m in modules}, "options": asdict(options)}
    archs = tuple(next(iter(keys.values())))
    return _write(modules, options, folder, name, archs, lines, description)


def _write(
    contents: Contents,
    options: CompilerOptions,
    folder: Path,
    name: str,
    archs: Sequence[str],
    key_lines: Sequence[str],
    description: Mapping[str, Any],
) -> Path:
    # next to the result: moving it is then a rename, and a full disk is found here
    with tempfile.TemporaryDirectory(prefix="work.", dir=folder) as work:
        library, sources = build_library(contents, options, Path(work), f"{name}.so", archs)
        shutil.move(library, folder / library.name)
    (folder / f"{name}.key").write_text("".join(key_lines))
    (folder / f"{name}.abi.json").write_text(json.dumps(description, indent=1, sort_keys=True) + "\n")
    (folder / f"{name}.sources").mkdir(exist_ok=True)
    for file, text in sources.items():
        (folder / f"{name}.sources" / file).write_text(text)
    return folder / library.name
