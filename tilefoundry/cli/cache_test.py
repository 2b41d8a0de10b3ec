"""The command, as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tilefoundry.cli.main import app
from tilefoundry.driver.cache import DiskCache

OLD, NEW = "a" * 64, "b" * 64


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = DiskCache(tmp_path / "cache")
    for key, name in ((OLD, "softmax"), (NEW, "attention")):
        cache.get_or_make(key, lambda folder, name=name: (folder / f"{name}.so").write_bytes(b"x" * 5000))  # type: ignore[misc]
    past = time.time() - 3 * 86400
    os.utime(cache.root / "entries" / OLD / "manifest.json", (past, past))
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(cache.root))
    return cache.root


def run(*args: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == status, result.output
    return result.output


def test_report(root: Path) -> None:
    lines = run("cache", "report").splitlines()
    assert lines[0].split() == ["key", "entry", "bytes", "compiled", "used"]
    assert lines[1].split()[:4] == [NEW[:16], "attention", "5.2", "kB"]
    assert lines[2].startswith(OLD[:16]) and lines[2].endswith("3 d ago")
    assert lines[-1] == f"2 entries, 10.4 kB of 4.3 GB, in {root}"


def test_verify_names_and_removes_what_is_damaged(root: Path) -> None:
    assert run("cache", "verify") == "2 intact, 0 damaged\n"
    (root / "entries" / OLD / "softmax.so").write_bytes(b"y" * 5000)
    told = f"removed {OLD[:16]}: softmax.so has another content\n1 intact, 1 damaged\n"
    assert run("cache", "verify", status=1) == told
    assert run("cache", "verify") == "1 intact, 0 damaged\n"


def test_clear(root: Path, tmp_path: Path) -> None:
    assert run("cache", "clear", "--dir", str(tmp_path / "other")).startswith("removed 0 entries")
    assert run("cache", "clear") == f"removed 2 entries, 10.4 kB, from {root}\n"
    assert run("cache", "report") == f"0 entries, 0 bytes of 4.3 GB, in {root}\n"


def test_an_error_is_one_line_without_a_traceback(root: Path) -> None:
    root.chmod(0o777)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tilefoundry.cli", "cache", "clear"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    first, remedy = done.stderr.splitlines()
    assert first == f"tilefoundry: kernel cache '{root}' is not used: others may write it" and "help:" in remedy
    assert len(list((root / "entries").iterdir())) == 2
