"""Opening shared libraries so that one path never stands for two contents."""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import tvm_ffi

from tilefoundry.diagnostics import LaunchError


class LibraryError(LaunchError, RuntimeError):
    """A library cannot be used here: it does not load, lacks a symbol, or was built for another machine."""


# e_machine of an ELF file, as the platform module calls the machines that generated libraries may be for.
_MACHINES = {62: "x86_64", 183: "aarch64"}

_opened: dict[str, tvm_ffi.Module] = {}
_lock = threading.Lock()


def open_library(path: Path) -> tvm_ffi.Module:
    """The library with the present content of `path`, loaded once per content and kept for the life of the process.

    The dynamic loader tells libraries apart by path, so it would go on serving what a path held at first. It is
    therefore given a copy under a name of its own, which is unlinked once it is mapped.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: it is for CPUs of another family, or the dynamic loader refuses it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no kernel library at '{path}'")
    content = path.read_bytes()
    _refuse_other_machines(content, path)
    digest = hashlib.sha256(content).hexdigest()
    with _lock:
        if digest not in _opened:
            descriptor, copy = tempfile.mkstemp(prefix=f"{path.stem}-{digest[:16]}-", suffix=".so")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                _opened[digest] = tvm_ffi.load_module(copy, keep_module_alive=True)
            except RuntimeError as error:
                raise LibraryError(f"cannot load '{path}': {error}") from error
            finally:
                os.unlink(copy)
        return _opened[digest]


def _refuse_other_machines(content: bytes, path: Path) -> None:
    """The dynamic loader says of such a library that there is no such file."""
    machine = _MACHINES.get(int.from_bytes(content[18:20], "little")) if content.startswith(b"\x7fELF") else None
    if machine not in (None, platform.machine()):
        raise LibraryError(
            f"cannot load '{path}': it is built for {machine}, and this machine is {platform.machine()}",
            remedy="build the library again on this machine",
        )


def find_symbol(library: tvm_ffi.Module, name: str, path: Path) -> Callable[..., object]:
    """A function that a library exports through TVM FFI.

    Raises:
        LibraryError: it has no symbol of that name.
    """
    try:
        return library.get_function(name)
    except AttributeError as error:
        remedy = "rebuild the library, or load one of TileFoundry's"
        raise LibraryError(f"'{path}' has no symbol '{name}'", remedy=remedy) from error
