"""Where compilers and headers come from: runfiles of a Bazel build, the environment, or installed wheels.

A compiler that merely lies first on PATH is never taken for CUDA: the one that compiles is pinned, or named explicitly.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tvm_ffi import libinfo

from tilefoundry.diagnostics import CompileError

# cicc orders some of its choices by address, so its allocator must not give memory back by the clock: with this, and
# with `fixed_addresses`, the same source gives the same kernel.
_MALLOC = "dirty_decay_ms:-1,muzzy_decay_ms:-1"

# not resolved: in runfiles, only what a build declares is beside this file
PACKAGE = Path(__file__).absolute().parents[1]
RUNTIME_INCLUDE = PACKAGE / "runtime" / "include"


@dataclass(frozen=True)
class HostToolchain:
    """What compiles and links for the host.

    Attributes:
        cxx: the C++ compiler driver, gcc or clang.
        include: folders of headers: the runtime's, CUTLASS's, CUDA's, TVM FFI's; in search order.
        ffi_library: libtvm_ffi.so, which generated libraries need.
    """

    cxx: Path
    include: tuple[Path, ...]
    ffi_library: Path


@dataclass(frozen=True)
class CudaToolkit:
    """A CUDA toolkit of the usual layout: bin, include, nvvm under one root."""

    root: Path

    @property
    def nvcc(self) -> Path:
        return self.root / "bin" / "nvcc"

    @property
    def include(self) -> tuple[Path, ...]:
        return self.root / "include", self.root / "include" / "cccl"

    def environment(self) -> dict[str, str]:
        """The whole environment of an nvcc run; nothing of the caller's leaks into a build."""
        return {
            "PATH": f"{self.root}/bin:/usr/bin:/bin",
            "CICC_PATH": f"{self.root}/nvvm/bin",
            "NVVMIR_LIBRARY_DIR": f"{self.root}/nvvm/libdevice",
            "LC_ALL": "C",
            "MALLOC_CONF": _MALLOC,
            "PWD": "/proc/self/cwd",
        }


def runfiles_root() -> Path | None:
    """The runfiles tree that this process runs from, if Bazel started it."""
    named = os.environ.get("RUNFILES_DIR")
    candidates = [Path(named)] if named else []
    # <name>.runfiles/<repository>/tilefoundry/driver/toolchain.py, seen through the link that Bazel made
    candidates += [p for p in Path(__file__).absolute().parents if p.name.endswith(".runfiles")]
    return next((p for p in candidates if p.is_dir()), None)


def _site_packages() -> Iterator[Path]:
    for key in ("purelib", "platlib"):
        yield Path(sysconfig.get_paths()[key])
    # Under Bazel, packages lie in folders of their own on sys.path; TVM FFI shows where wheels are put.
    yield Path(libinfo.find_libtvm_ffi()).resolve().parents[2]


def _cuda_roots() -> Iterator[tuple[str, Path]]:
    """Places that may hold a toolkit, or its headers only, best first, and what each is called."""
    runfiles = runfiles_root()
    if runfiles is not None:
        yield "runfiles", runfiles / "tilefoundry_cuda"
    for variable in ("TILEFOUNDRY_CUDA", "CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield variable, Path(os.environ[variable]).absolute()
    for site in _site_packages():
        yield "site-packages", site / "nvidia" / "cu13"


@functools.cache
def find_cuda() -> CudaToolkit:
    """The CUDA toolkit to compile with: of the runfiles, else of TILEFOUNDRY_CUDA or CUDA_HOME, else installed wheels.

    Raises:
        CompileError: none of these has an nvcc; the text lists them, and an nvcc on PATH that was not taken.
    """
    looked: list[str] = []
    for what, root in _cuda_roots():
        if (root / "bin" / "nvcc").is_file():
            return CudaToolkit(root)
        looked.append(f"{what} ({root})")
    stray = shutil.which("nvcc")
    raise CompileError(
        f"no CUDA toolkit found; looked in {', '.join(looked)}"
        + (f". '{stray}' is on PATH, but a compiler is only taken from there when it is named" if stray else ""),
        remedy="install the nvidia-cuda-nvcc wheels, or set TILEFOUNDRY_CUDA to a toolkit's folder"
        + (f", such as {Path(stray).resolve().parents[1]}" if stray else ""),
    )


def _cuda_headers() -> tuple[Path, ...]:
    named = os.environ.get("TILEFOUNDRY_CUDA_INCLUDE")  # a build system keeps headers and compiler apart
    if named:
        return tuple(p for p in (Path(n).absolute() for n in named.split(":")) if p.is_dir())
    for _, root in _cuda_roots():
        if (root / "include" / "cuda.h").is_file():
            return CudaToolkit(root).include
    raise CompileError(
        "no CUDA headers found",
        remedy="install the nvidia-cuda-runtime wheel, or set TILEFOUNDRY_CUDA to a toolkit's folder",
    )


def _cutlass_headers() -> Path:
    runfiles = runfiles_root()
    candidates = [runfiles / "tilefoundry_cutlass" / "include"] if runfiles is not None else []
    if os.environ.get("TILEFOUNDRY_CUTLASS"):
        candidates.append(Path(os.environ["TILEFOUNDRY_CUTLASS"]) / "include")
    candidates += [site / "cutlass_library" / "source" / "include" for site in _site_packages()]
    for path in candidates:
        if (path / "cute" / "tensor.hpp").is_file():
            return path
    raise CompileError(
        f"no CUTLASS headers found; looked in {', '.join(str(c) for c in candidates)}",
        remedy="install the nvidia-cutlass wheel, or set TILEFOUNDRY_CUTLASS to its folder",
    )


@functools.cache
def find_host() -> HostToolchain:
    """The host compiler (CXX, else g++, clang++ or c++) and every folder of headers.

    Raises:
        CompileError: there is no compiler, or headers are missing.
    """
    named = os.environ.get("CXX")
    found = next((p for c in ([named] if named else ["g++", "clang++", "c++"]) if (p := shutil.which(c))), None)
    if found is None:
        raise CompileError(
            f"no C++ compiler found: CXX={named!r}"
            if named
            else "no C++ compiler found: no g++, clang++ or c++ on PATH",
            remedy="install g++, or set CXX to a C++17 compiler",
        )
    library = Path(libinfo.find_libtvm_ffi())
    include = (
        RUNTIME_INCLUDE,
        _cutlass_headers(),
        *_cuda_headers(),
        *map(Path, libinfo.include_paths()),
    )
    return HostToolchain(Path(found).absolute(), include, library)


@functools.cache
def compiler_identity(compiler: Path) -> str:
    """What a compiler says it is: the text of ``--version``.

    Raises:
        CompileError: it cannot be run.
    """
    result = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    if result.returncode:
        raise CompileError(f"'{compiler} --version' failed with status {result.returncode}: {result.stderr.strip()}")
    return result.stdout.strip()
