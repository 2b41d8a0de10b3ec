"""Writing a compiled entry: ``<name>.so``, ``<name>.key``, ``<name>.abi.json`` and ``<name>.sources/``.

A cache entry and the outputs of the Bazel rule have the same form. Needs no loader.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tilefoundry.codegen.host import describe_module
from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.driver.native import build_library
from tilefoundry.driver.options import CompilerOptions


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
    described = {**describe_module(module), "options": asdict(options)}
    description = json.dumps(described, indent=1, sort_keys=True)
    (folder / f"{name}.abi.json").write_text(description + "\n")
    (folder / f"{name}.sources").mkdir(exist_ok=True)
    for file, text in sources.items():
        (folder / f"{name}.sources" / file).write_text(text)
    return folder / library.name
