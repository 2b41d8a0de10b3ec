"""Building libraries: reproducible, quiet, and clear when a compiler fails."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from pathlib import Path

import pytest
import torch

from tilefoundry.codegen.host import emit_host
from tilefoundry.codegen.unit import LinkableModule, source_digest
from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import toolchain
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.native import build_library, compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CpuTarget, CudaTarget, Target

TARGETS = [CpuTarget(), CudaTarget()]


def has_nvcc() -> bool:
    try:
        toolchain.find_cuda()
    except CompileError:
        return False
    return True


def skip_without_nvcc(target: Target) -> None:
    if isinstance(target, CudaTarget) and not has_nvcc():
        pytest.skip("no CUDA toolkit is named")


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
@pytest.mark.parametrize("options", [CompilerOptions(), CompilerOptions(line_info=True)], ids=["plain", "lines"])
def test_two_builds_in_two_folders_are_equal(
    tmp_path: Path, target: Target, options: CompilerOptions, capfd: pytest.CaptureFixture[str]
) -> None:
    skip_without_nvcc(target)
    digests = set()
    for folder in ("a", "another/longer"):
        work = tmp_path / folder
        work.mkdir(parents=True)
        library, _ = build_library(axpy_module(target), options, work, "axpy.so")
        content = library.read_bytes()
        assert str(tmp_path).encode() not in content
        digests.add(hashlib.sha256(content).hexdigest())
    assert len(digests) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("isa", "machine", "refusal"),
    [
        ("aarch64", "x86_64", r"'cpu isa=aarch64' is built on aarch64 machines(.|\n)*x86-64-v2, x86-64-v3, x86-64-v4"),
        ("x86-64-v2", "aarch64", r"'cpu isa=x86-64-v2' is built on x86-64 machines(.|\n)*for one of aarch64"),
    ],
)
def test_a_cpu_of_another_family_is_refused_before_any_compiler_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isa: str, machine: str, refusal: str
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(CompileError, match=refusal):
        build_library(axpy_module(CpuTarget(isa)), CompilerOptions(), tmp_path, "axpy.so")
    assert not any(tmp_path.iterdir())


def test_a_library_holds_a_cubin_for_each_architecture(tmp_path: Path) -> None:
    skip_without_nvcc(CudaTarget())
    library, sources = build_library(
        axpy_module(CudaTarget()), CompilerOptions(), tmp_path, "axpy.so", ("sm_80", "sm_90a")
    )
    content = library.read_bytes()
    for arch in ("sm_80", "sm_90a"):
        assert (tmp_path / f"axpy.{arch}.cubin").read_bytes() in content
    assert list(sources) == ["axpy.cu", "host_entry.cc", "cubins.S"]


def test_ptx_is_there_to_be_read(tmp_path: Path) -> None:
    skip_without_nvcc(CudaTarget())
    texts = compile_ptx(axpy_module(CudaTarget()), CompilerOptions(), tmp_path)
    assert ".target sm_90a" in texts["axpy"] and ".entry axpy__general" in texts["axpy"]


def test_a_wrong_nvcc_first_on_path_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_nvcc(CudaTarget())
    fake = tmp_path / "fake" / "nvcc"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    toolchain.find_cuda.cache_clear()
    work = tmp_path / "work"
    work.mkdir()
    assert build_library(axpy_module(CudaTarget()), CompilerOptions(), work, "axpy.so")[0].is_file()


def test_two_kernels_share_a_library_and_an_entry(tmp_path: Path) -> None:
    """The second kernel writes what the first left: both run, in order, each with its own code."""
    first, second = axpy_module(CpuTarget(), "first"), axpy_module(CpuTarget(), "second", bias=1)
    units = (*first.units, *second.units)
    entry = dataclasses.replace(first.entry, name="both")
    module = LinkableModule(CpuTarget(), units, emit_host(units, CpuTarget(), entry), entry)
    library, _ = build_library(module, CompilerOptions(), tmp_path, "both.so")
    both = load_linked_module(read_artifact(library))
    x = torch.ones(3, 4)
    assert torch.equal(both(1.0, x, x), 3 * x)  # type: ignore[arg-type]
    assert [k.name for k in both.kernels] == ["first", "second"]


def test_a_failing_compiler_is_quoted(tmp_path: Path) -> None:
    module = axpy_module(CpuTarget())
    source = "#error planted\n"
    unit = dataclasses.replace(module.units[0], source=source, digest=source_digest(source))
    with pytest.raises(
        CompileError, match=r"compiling kernel 'axpy' for x86-64-v3 failed with status 1\n\$ .*axpy.cc"
    ) as caught:
        build_library(dataclasses.replace(module, units=(unit,)), CompilerOptions(), tmp_path, "axpy.so")
    assert "#error planted" in str(caught.value)
