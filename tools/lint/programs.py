"""Finds the pinned linters: beside the Python packages that the build laid out, never on PATH."""

import os
import sys
import sysconfig
from pathlib import Path


def program(name: str) -> str:
    """The executable `name` that a Python package on sys.path brought along.

    Bazel's packages carry it in `bin` next to the modules, a virtual environment in its own `bin`, and clang-format
    inside its package.

    Raises:
      FileNotFoundError: it is in none of these.
    """
    places = [Path(p) / "bin" for p in sys.path if p]
    places += [Path(p) / "clang_format" / "data" / "bin" for p in sys.path if p]
    places.append(Path(sysconfig.get_path("scripts")))
    for place in places:
        found = place / name
        if found.is_file() and os.access(found, os.X_OK):
            return str(found)
    raise FileNotFoundError(f"{name}: in none of the Python packages on sys.path; run it through //tools:lint")


def third_party_path() -> str:
    """PYTHONPATH for a tool that needs third-party packages, but not the build's copy of this repository."""
    return os.pathsep.join(p for p in sys.path if p and not (Path(p) / "tools" / "lint").is_dir())
