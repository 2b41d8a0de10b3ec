"""A root module that depends on this one: its own Python toolchain, its own torch, and our pytest_test with shards.

It is built by a Bazel of its own, with no rc file of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_CHECKOUT = Path("MODULE.bazel").resolve().parent
_VERSION = "{}.{}".format(*sys.version_info)
_MODULE = f"""
    module(name = "consumer")

    bazel_dep(name = "rules_python", version = "1.3.0")
    bazel_dep(name = "tilefoundry")
    local_path_override(module_name = "tilefoundry", path = "{_CHECKOUT}")

    register_toolchains("//:python")
"""
_BUILD = f"""
    load("@rules_python//python:defs.bzl", "py_library", "py_runtime", "py_runtime_pair")
    load("@tilefoundry//tools/python:pytest.bzl", "pytest_test")
    load("@tilefoundry//tools/python:toolchain.bzl", "versioned_toolchain")

    py_runtime(
        name = "runtime",
        interpreter_path = "{Path(sys.base_prefix, "bin/python3").resolve()}",
        python_version = "PY3",
    )
    py_runtime_pair(name = "pair", py3_runtime = ":runtime")
    versioned_toolchain(name = "versioned", pair = ":pair", python_version = "VERSION")
    toolchain(name = "python", toolchain = ":versioned", toolchain_type = "@rules_python//python:toolchain_type")

    py_library(name = "my_torch", srcs = ["torch.py"], imports = ["."])

    pytest_test(
        name = "sample_test",
        size = "small",
        srcs = ["sample_test.py"],
        shard_count = 2,
        deps = ["@tilefoundry//third_party/python:numpy", "@tilefoundry//third_party/python:torch"],
    )

    pytest_test(name = "empty_test", size = "small", srcs = ["empty_test.py"], tags = ["manual"])
"""
_TEST = """
    import numpy, torch

    def test_own_torch():
        assert torch.MINE == 1

    def test_locked_numpy():
        assert numpy.__version__ == "2.4.6"
"""

Bazel = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("consumer")
    files = {
        "MODULE.bazel": _MODULE,
        "BUILD.bazel": _BUILD.replace("VERSION", _VERSION),
        "torch.py": "MINE = 1\n",
        "sample_test.py": _TEST,
        "empty_test.py": "def helper():\n    pass\n",
    }
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    return folder


@pytest.fixture(scope="module")
def bazel(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bazel]:
    output = tmp_path_factory.mktemp("output")
    environment = {name: value for name, value in os.environ.items() if name != "TEST_TMPDIR"}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        startup = ["--nohome_rc", "--nosystem_rc", f"--output_base={output}", "--max_idle_secs=20"]
        command = [str(_CHECKOUT / "bazelw"), *startup, *arguments]
        return subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, check=False)

    yield run
    run("shutdown")


def test_own_toolchain_and_own_torch(bazel: Bazel) -> None:
    got = bazel("test", "//...", "--@tilefoundry//third_party/python:torch=//:my_torch", "--test_output=errors")
    assert got.returncode == 0, got.stdout + got.stderr
    assert "Stats over 2 runs" in got.stdout + got.stderr  # both shards


def test_only_what_is_used_is_fetched(bazel: Bazel) -> None:
    external = Path(bazel("info", "output_base").stdout.strip(), "external")
    folders = [path.name for path in external.glob("*tilefoundry_pypi_*") if path.is_dir()]
    fetched = {name.split("tilefoundry_pypi_")[1] for name in folders}
    tag = _VERSION.replace(".", "")
    assert f"{tag}_numpy" in fetched
    assert f"{tag}_torch" not in fetched
    assert all(name.startswith(tag) for name in fetched)
    assert not list(external.glob("*cuda_compiler"))


def test_a_test_without_tests_fails(bazel: Bazel) -> None:
    got = bazel("test", "//:empty_test", "--test_output=all")
    assert got.returncode == 3, got.stdout + got.stderr  # built, and failed
    assert "no tests ran" in got.stdout + got.stderr


def test_other_python_is_refused_with_both_versions(bazel: Bazel, workspace: Path) -> None:
    text = (workspace / "BUILD.bazel").read_text()
    (workspace / "BUILD.bazel").write_text(text.replace(f'python_version = "{_VERSION}"', 'python_version = "3.14"'))
    got = bazel("build", "@tilefoundry//third_party/python:numpy")
    (workspace / "BUILD.bazel").write_text(text)
    assert got.returncode != 0
    assert "is Python 3.14, but packages are locked for Python 3.11, 3.12, 3.13" in got.stderr
