"""What every test of this folder has: a cache of its own, and a compiler that has read what all kernels include."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# made by Bazel; without it tests only take longer
_CXX = Path(__file__).absolute().parent / "precompiled" / "cxx"
if _CXX.exists():
    os.environ.setdefault("CXX", str(_CXX))


@pytest.fixture(autouse=True)
def private_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A cache of compiled kernels that ends with the run."""
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kernels"))
