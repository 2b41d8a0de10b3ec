"""PTX and SASS of compiled libraries, and what is said where there are none."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import toolchain
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.device_code import DEVICE_CODE, cubins_of
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.pipeline import load
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.runtime import CompiledModule
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CpuTarget, CudaTarget


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("axpy")
    keys = {"sm_90a": "k" * 64, "sm_80": "l" * 64}
    write_artifact(axpy_module(CudaTarget("nvidia.h200_sxm")), CompilerOptions(line_info=True), folder, "axpy", keys)
    return folder


@pytest.fixture
def axpy(folder: Path) -> CompiledModule:
    return load(folder / "axpy.so")


def test_ptx_is_that_of_the_options_and_the_architecture(axpy: CompiledModule) -> None:
    text = axpy.ptx()
    assert text.startswith("// ---- axpy\n") and ".target sm_90a" in text
    assert ".entry axpy__vector(" in text and ".entry axpy__general(" in text
    assert ".loc" in text, "line_info of the library is not that of its PTX"


def test_a_library_tells_its_cubins(folder: Path) -> None:
    archs = [int.from_bytes(cubin[48:52], "little") for cubin in cubins_of((folder / "axpy.so").read_bytes())]
    assert [(flags >> 8) & 0xFF for flags in archs] == [90, 80]


def test_sass_is_that_of_every_cubin(axpy: CompiledModule, tmp_path: Path) -> None:
    root = toolchain.find_cuda().root
    if not all((root / "bin" / tool).is_file() for tool in ("cuobjdump", "nvdisasm")):
        with pytest.raises(CompileError, match=r"no cuobjdump in the CUDA toolkit(.|\n)*set TILEFOUNDRY_CUDA"):
            axpy.sass()
        return
    text = axpy.sass()
    assert text.count("Function : axpy__vector") == text.count("Function : axpy__general") == 2
    assert "code for sm_90a" in text and "code for sm_80" in text and "FFMA" in text
    gone = tmp_path / "gone.so"
    assert axpy.linked is not None
    shutil.copy(axpy.linked.library, gone)
    moved = load_linked_module(dataclasses.replace(axpy.linked, library=gone), None, DEVICE_CODE)
    gone.unlink()
    again = moved.sass()
    assert "Function : axpy__vector" in again and again in text


def test_without_sources_there_is_no_ptx(folder: Path, tmp_path: Path) -> None:
    alone = shutil.copy(folder / "axpy.so", tmp_path / "axpy.so")
    with pytest.raises(CompileError, match=r"came without the source of axpy(.|\n)*\.sources folder"):
        load(alone).ptx()


def test_without_a_toolkit_it_is_named(axpy: CompiledModule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setattr("tilefoundry.driver.device_code.find_cuda", lambda: toolchain.CudaToolkit(tmp_path))
    with pytest.raises(CompileError, match="no cuobjdump in the CUDA toolkit"):
        axpy.sass()

    def none() -> toolchain.CudaToolkit:
        raise CompileError("no CUDA toolkit found")

    monkeypatch.setattr("tilefoundry.driver.device_code.find_cuda", none)
    monkeypatch.setattr("tilefoundry.driver.native.find_cuda", none)
    for show in (axpy.ptx, axpy.sass):
        with pytest.raises(CompileError, match="no CUDA toolkit found"):
            show()


def test_a_cpu_library_has_neither(tmp_path: Path) -> None:
    module = load(write_artifact(axpy_module(CpuTarget()), CompilerOptions(), tmp_path, "axpy", {}))
    assert [(k.name, k.grid, k.block, k.shared_bytes) for k in module.kernels] == [("axpy", None, 128, 0)]
    for show, what in ((module.ptx, "PTX"), (module.sass, "SASS")):
        with pytest.raises(CompileError, match=f"axpy: compiled for 'cpu', which has no {what}"):
            show()
    unbound = CompiledModule(module.type, lambda *args: None)
    with pytest.raises(CompileError, match="no library or no compiler stands behind"):
        unbound.ptx()
