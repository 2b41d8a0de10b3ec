"""From a library on disk to a CompiledModule, through TVM FFI (runtime spec, 1.4)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import tvm_ffi

from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError, LaunchError
from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.runtime.abi_json import read_description
from tilefoundry.runtime.compiled import BuildInfo, CompiledModule, DeviceCode
from tilefoundry.runtime.isa import missing_features
from tilefoundry.runtime.library import LibraryError, find_symbol, open_library

DESCRIPTION_SYMBOL = "tilefoundry_description"

# The kinds that host entries throw (host/error.h), and the classes that come out of a call.
for _class in (ArgumentTypeError, ArgumentValueError, LaunchError):
    tvm_ffi.register_error(f"tilefoundry.{_class.__name__}", _class)


def load_linked_module(
    linked: LinkedModule, build_info: BuildInfo | None = None, device_code: DeviceCode | None = None
) -> CompiledModule:
    """Loads a library and binds its entry.

    Args:
        device_code: what shows PTX and SASS of the library; the loader has no compiler to do so.

    Raises:
        FileNotFoundError: the library is not there.
        LibraryError: it cannot be loaded, has no symbol for the entry, or is for a CPU that this machine is not.
    """
    library = open_library(linked.library)
    if linked.target_name == "cpu" and (missing := missing_features(linked.isa)):
        raise LibraryError(
            f"'{linked.library}' is built for {linked.isa}; this machine lacks {', '.join(missing)}",
            remedy="compile for a CpuTarget whose isa the machine has",
        )
    entry = find_symbol(library, linked.entry.name, linked.library)
    return CompiledModule(linked.entry, entry, linked, build_info, device_code)


def read_library(path: str | os.PathLike[str]) -> LinkedModule:
    """What a library says about itself; it knows neither its key nor its sources.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: it does not load, or is not one of TileFoundry's.
    """
    path = Path(path)
    describe = find_symbol(open_library(path), DESCRIPTION_SYMBOL, path)
    description: dict[str, Any] = json.loads(str(describe()))
    entry, kernels = read_description(description)
    target = description["target"]
    return LinkedModule(path, entry, kernels, target["text"], target["name"], target["isa"])
