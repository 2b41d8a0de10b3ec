"""What every test of this folder has: a cache of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def private_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A cache of compiled kernels that ends with the run."""
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kernels"))
