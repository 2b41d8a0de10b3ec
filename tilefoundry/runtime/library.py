"""Opening shared libraries so that one path never stands for two contents."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import tvm_ffi

from tilefoundry.diagnostics import LaunchError


class LibraryError(LaunchError, RuntimeError):
    """A library cannot be used here: it does not load, lacks a symbol, or was built for another machine."""


_opened: dict[str, tvm_ffi.Module] = {}
_lock = threading.Lock()


def open_library(path: Path) -> tvm_ffi.Module:
    """The library with the present content of `path`, loaded once per content and kept for the life of the process.

    The dynamic loader tells libraries apart by path, so it would go on serving what a path held at first. It is
    therefore given a copy under a name of its own, which is unlinked once it is mapped.

    Raises:
        FileNotFoundError: there is no such file.
        LibraryError: the dynamic loader refuses it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no kernel library at '{path}'")
    content = path.read_bytes()
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
