"""Bazel is set up from Debian's packages for real: interrupted, by two runs at once, in a cache under /tmp.

Needs the network and Debian; some minutes. It builds with what it set up, in this checkout.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_CHECKOUT = Path("MODULE.bazel").resolve().parent

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="not a Debian system")


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    # the sandbox has a /tmp of its own, and must see the cache nevertheless
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="bazelw-cache-") as folder:
        yield Path(folder)


def _start(cache: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "BAZELW_CACHE": str(cache), "BAZELW_PROVISION": "always"}
    for name in ("BAZEL", "TEST_TMPDIR"):  # the Bazel that runs this test is not to be seen
        environment.pop(name, None)
    command = [str(_CHECKOUT / "bazelw"), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=_CHECKOUT, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def _prefixes(cache: Path) -> list[Path]:
    return [path for path in cache.glob("bazel-*") if path.is_dir()]


def test_killed_run_is_taken_up_by_two_at_once(cache: Path) -> None:
    killed = _start(cache, "--version")
    deadline = time.monotonic() + 120
    while not any(list(path.glob("work/cache/archives/*.deb")) for path in _prefixes(cache)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    [prefix] = _prefixes(cache)
    assert not (prefix / ".ready").exists()
    assert list(prefix.glob("work/cache/archives/*.deb"))

    both = [_start(cache, "--version") for _ in range(2)]
    results = [process.communicate(timeout=600) for process in both]
    for process, (out, err) in zip(both, results, strict=True):
        assert process.returncode == 0, err
        assert out.startswith("bazel 7."), out
    said = "".join(err for _, err in results)
    assert said.count("[5/5]") == 1, said  # one of them did the work
    assert "waiting for another run" in said
    assert not (prefix / "work").exists()


def test_ready_prefix_starts_at_once(cache: Path) -> None:
    start = time.monotonic()
    process = _start(cache, "--version")
    _, err = process.communicate(timeout=60)
    assert err == ""
    assert time.monotonic() - start < 2


def test_it_builds_and_tests_in_the_sandbox(cache: Path) -> None:
    startup = [f"--output_base={cache / 'output'}", "--max_idle_secs=10"]
    targets = [f"//tests/bootstrap:{name}_test" for name in ("googletest", "tvm_ffi", "unsupported_python")]
    options = ["--symlink_prefix=/", "--jobs=2", "--spawn_strategy=linux-sandbox"]
    process = _start(cache, *startup, "test", *options, *targets)
    out, err = process.communicate(timeout=900)
    _start(cache, *startup, "shutdown").communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert "3 tests pass" in out + err
