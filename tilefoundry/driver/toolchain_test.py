"""Compilers come from where they are pinned or named, never from wherever PATH points first."""

from pathlib import Path

import pytest

from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import toolchain


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TILEFOUNDRY_CUDA", "CUDA_HOME", "CUDA_PATH", "CXX", "TILEFOUNDRY_CUDA_INCLUDE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "runfiles_root", lambda: None)
    monkeypatch.setattr(toolchain, "_site_packages", lambda: iter([Path("/nowhere")]))
    toolchain.find_cuda.cache_clear()
    toolchain.find_host.cache_clear()


def stray(folder: Path, name: str) -> Path:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    path = folder / "bin" / name
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return path


def test_an_nvcc_on_path_is_named_but_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(stray(tmp_path, "nvcc").parent))
    with pytest.raises(
        CompileError, match="no CUDA toolkit found; looked in site-packages.*nvcc' is on PATH"
    ) as caught:
        toolchain.find_cuda()
    assert f"TILEFOUNDRY_CUDA to a toolkit's folder, such as {tmp_path}" in str(caught.value)


@pytest.mark.parametrize("variable", ["TILEFOUNDRY_CUDA", "CUDA_HOME"])
def test_a_named_toolkit_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv("PATH", str(stray(tmp_path / "stray", "nvcc").parent))
    stray(tmp_path / "toolkit", "nvcc")
    monkeypatch.setenv(variable, str(tmp_path / "toolkit"))
    assert toolchain.find_cuda().root == tmp_path / "toolkit"


def test_the_runfiles_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stray(tmp_path / "tilefoundry_cuda", "nvcc")
    stray(tmp_path / "named", "nvcc")
    monkeypatch.setenv("TILEFOUNDRY_CUDA", str(tmp_path / "named"))
    monkeypatch.setattr(toolchain, "runfiles_root", lambda: tmp_path)
    assert toolchain.find_cuda().root == tmp_path / "tilefoundry_cuda"


def test_nothing_of_the_callers_environment_reaches_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "--evil")
    environment = toolchain.CudaToolkit(Path("/t")).environment()
    assert set(environment) == {"PATH", "CICC_PATH", "NVVMIR_LIBRARY_DIR", "LC_ALL", "MALLOC_CONF", "PWD"}


def test_a_missing_host_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(CompileError, match="no C\\+\\+ compiler found: CXX='no-such-compiler'"):
        toolchain.find_host()
