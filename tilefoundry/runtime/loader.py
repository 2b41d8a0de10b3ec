"""From a library on disk to a CompiledModule, through TVM FFI (runtime spec, 1.4)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import tvm_ffi

from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError, CheckingError, LaunchError, WrongValueError
from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.runtime.abi_json import read_description
from tilefoundry.runtime.compiled import BuildInfo, CompiledModule, DeviceCode
from tilefoundry.runtime.isa import missing_features
from tilefoundry.runtime.library import LibraryError, find_symbol, open_library

DESCRIPTION_SYMBOL = "tilefoundry_description"
ENTRIES_SYMBOL = "tilefoundry_entries"

# The kinds that host entries throw (host/error.h), and the classes that come out of a call.
for _class in (ArgumentTypeError, ArgumentValueError, CheckingError, LaunchError):
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


def entries_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of the entries of a library of several; none for a library of one.

    Raises:
        FileNotFoundError, LibraryError: as `read_library`.
    """
    library = open_library(Path(path))
    if not library.implements_function(ENTRIES_SYMBOL):
        return ()
    return tuple(json.loads(str(library.get_function(ENTRIES_SYMBOL)())))


def read_library(path: str | os.PathLike[str], entry: str | None = None) -> LinkedModule:
    """What a library says about itself; it knows neither its key nor its sources.

    Args:
        entry: which of its entries; needed where it has several.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: it does not load, or is not one of TileFoundry's.
        WrongValueError: it has several entries and none is named, or none of that name.
    """
    path = Path(path)
    symbol = _description_symbol(path, entry)
    describe = find_symbol(open_library(path), symbol, path)
    description: dict[str, Any] = json.loads(str(describe()))
    abi, kernels = read_description(description)
    if entry is not None and abi.name != entry:
        raise WrongValueError(f"'{path}' has the entry '{abi.name}', and no entry '{entry}'")
    target = description["target"]
    return LinkedModule(path, abi, kernels, target["text"], target["name"], target["isa"])


def _description_symbol(path: Path, entry: str | None) -> str:
    names = entries_of(path)
    if not names:
        return DESCRIPTION_SYMBOL
    if entry in names:
        return f"{DESCRIPTION_SYMBOL}__{entry}"
    found = f"'{path}' has the entries {', '.join(names)}"
    if entry is None:
        raise WrongValueError(f"{found}: which one?", remedy=f'name it: tilefoundry.load("{path.name}", "{names[0]}")')
    raise WrongValueError(f"{found}, and no entry '{entry}'")
