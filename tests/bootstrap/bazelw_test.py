"""Which Bazel `bazelw` runs, and what it says when there is none: with programs that only print their names."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_CHECKOUT = Path.cwd()
# What bazelw itself needs of the base system; everything else on PATH is a test's own.
_BASE = ["bash", "cat", "cut", "dirname", "mkdir", "sha256sum", "timeout", "flock", "id", "uname"]

Bazelw = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH with the base system's tools and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in _BASE:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def bazelw(tmp_path: Path, programs: Path) -> Bazelw:
    """Runs a copy of bazelw with `programs` as PATH and an empty cache."""
    checkout = tmp_path / "checkout"
    (checkout / "tools/bazel").mkdir(parents=True)
    for name in ("bazelw", ".bazelversion"):
        shutil.copy(_CHECKOUT / name, checkout / name)
    shutil.copytree(_CHECKOUT / "tools/bazel/debian", checkout / "tools/bazel/debian")

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        variables = {"PATH": str(programs), "BAZELW_CACHE": str(tmp_path / "cache"), **environment}
        command = [str(checkout / "bazelw"), *arguments]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)

    return run


def _program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/usr/bin/env bash\n{body}\n")
    path.chmod(0o755)
    return path


def _bazel(folder: Path, name: str, version: str) -> Path:
    return _program(folder, name, f'[ "$1" = --version ] && echo "bazel {version}" || echo {name} "$@"')


def test_named_bazel_is_taken_whatever_its_version(bazelw: Bazelw, tmp_path: Path, programs: Path) -> None:
    _bazel(programs, "bazel", "7.7.1")
    got = bazelw("info", "release", BAZEL=str(_bazel(tmp_path, "mine", "6.0.0")))
    assert got.stdout == "mine info release\n"


def test_named_bazel_that_is_none_is_an_error(bazelw: Bazelw) -> None:
    got = bazelw("info", BAZEL="/nonexistent/bazel")
    assert got.returncode == 1
    assert "BAZEL=/nonexistent/bazel is not a program" in got.stderr


@pytest.mark.parametrize("version", ["7.0.0", "7.7.1", "7.7.1-debian", "7.12.3"])
def test_any_seven_on_path_is_taken(bazelw: Bazelw, programs: Path, version: str) -> None:
    _bazel(programs, "bazel", version)
    assert bazelw("build", "//x y").stdout == "bazel build //x y\n"


def test_bazelisk_is_preferred(bazelw: Bazelw, programs: Path) -> None:
    _bazel(programs, "bazelisk", "7.7.1")
    _bazel(programs, "bazel", "7.7.1")
    assert bazelw("build").stdout == "bazelisk build\n"


@pytest.mark.parametrize("version", ["6.5.0", "8.4.2", "9.0.0", "70.1.0"])
def test_other_versions_are_refused_with_a_remedy(bazelw: Bazelw, programs: Path, version: str) -> None:
    _bazel(programs, "bazel", version)
    got = bazelw("build")
    assert got.returncode == 1
    assert got.stdout == ""
    assert f"bazel on PATH does not serve: bazel {version}; Bazel 7 is wanted" in got.stderr
    assert "Install bazelisk" in got.stderr
    assert "set BAZEL" in got.stderr


def test_bazelisk_without_network_is_passed_over(bazelw: Bazelw, programs: Path) -> None:
    _program(programs, "bazelisk", "exit 1")
    _bazel(programs, "bazel", "7.7.1")
    got = bazelw("build")
    assert got.stdout == "bazel build\n"
    assert "bazelisk on PATH does not serve: it does not run" in got.stderr


def _debian(programs: Path) -> None:
    _program(programs, "apt-get", "exit 100")
    _program(programs, "dpkg-deb", "exit 2")
    _program(programs, "dpkg", "echo amd64")


def test_missing_tools_are_named_with_the_command_that_installs_them(bazelw: Bazelw, programs: Path) -> None:
    _debian(programs)
    _program(programs, "python3", "exit 1")  # there, but without pip
    got = bazelw("build")
    assert got.returncode == 1
    assert "apt-get install --no-install-recommends python3-pip g++ git" in got.stderr
    assert got.stdout == ""


def test_failing_apt_is_named_with_a_remedy(bazelw: Bazelw, programs: Path, tmp_path: Path) -> None:
    _debian(programs)
    for name in ("python3", "g++", "git"):
        _program(programs, name, "exit 0")
    for name in ("awk", "sed", "sort", "head", "grep", "tr", "rm"):
        (programs / name).symlink_to(str(shutil.which(name)))
    got = bazelw("build", BAZEL_DEBIAN_MIRROR="file:/nonexistent")
    assert got.returncode == 1
    said = "apt-get could not read the suite forky of file:/nonexistent"
    assert said in got.stderr or "keys are missing" in got.stderr
    assert not list((tmp_path / "cache").glob("bazel-*/.ready"))


def test_cache_that_cannot_be_written_is_named(bazelw: Bazelw, programs: Path) -> None:
    _debian(programs)
    got = bazelw("build", BAZELW_CACHE="/proc/nothing")
    assert got.returncode == 1
    assert "the cache /proc/nothing cannot be written: set BAZELW_CACHE" in got.stderr


def test_cache_whose_name_bazel_cannot_take_is_named(bazelw: Bazelw, programs: Path, tmp_path: Path) -> None:
    _debian(programs)
    got = bazelw("build", BAZELW_CACHE=str(tmp_path / "my cache"))
    assert got.returncode == 1
    assert "my cache. Set BAZELW_CACHE" in got.stderr


def test_a_folder_that_was_moved_is_not_used(bazelw: Bazelw, programs: Path, tmp_path: Path) -> None:
    _debian(programs)
    bazelw("build")
    [lock] = (tmp_path / "cache").glob("bazel-*.lock")
    prefix = lock.with_suffix("")
    prefix.mkdir(exist_ok=True)
    _bazel(prefix, "bazel", "7.7.1")
    (prefix / ".ready").write_text(f"{prefix.resolve()}\n")
    assert bazelw("build").stdout == "bazel build\n"
    (prefix / ".ready").write_text("/somewhere/else\n")
    assert bazelw("build").returncode == 1
