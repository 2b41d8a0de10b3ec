"""What is precompiled is taken: otherwise tests would quietly take longer."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.compiler.precompiled.options import CPU_OPTIONS
from tilefoundry.driver import flags
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.toolchain import HostToolchain, compiler_identity, find_host
from tilefoundry.target import CpuTarget

_FOLDER = Path(__file__).absolute().parent


def test_gcc_reads_the_precompiled_headers(tmp_path: Path) -> None:
    found = find_host()
    if "Free Software Foundation" not in compiler_identity(found.cxx):
        pytest.skip("only gcc tells which precompiled headers it takes")
    toolchain = HostToolchain(_FOLDER / "cxx", found.include, found.ffi_library)
    target = CpuTarget.default()
    module = axpy_module(target)
    [unit] = module.units
    (tmp_path / "kernel.cc").write_text(unit.source)
    (tmp_path / "host.cc").write_text(module.host_source)
    for name, command in (
        ("kernel", flags.cpu_kernel(toolchain, target, CPU_OPTIONS, unit, "kernel.cc", "kernel.o")),
        ("host", flags.host_entry(toolchain, target, CPU_OPTIONS, "host.cc", "host.o")),
    ):
        made = subprocess.run([*command, "-H"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert f"! {_FOLDER}/{name}.h.gch" in made.stderr.splitlines(), name


def test_other_options_do_without_them(tmp_path: Path) -> None:
    found = find_host()
    toolchain = HostToolchain(_FOLDER / "cxx", found.include, found.ffi_library)
    target = CpuTarget.default()
    [unit] = axpy_module(target).units
    (tmp_path / "kernel.cc").write_text(unit.source)
    for options in (CompilerOptions(), replace(CPU_OPTIONS, fast_math=True)):
        command = flags.cpu_kernel(toolchain, target, options, unit, "kernel.cc", "kernel.o")
        made = subprocess.run([*command, "-###"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "kernel.h" not in made.stderr
