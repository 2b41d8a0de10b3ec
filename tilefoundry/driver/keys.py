"""Keys: which compiled library stands for which program."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import tvm_ffi

from tilefoundry.driver.inputs import target_text
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.toolchain import PACKAGE, compiler_identity, find_cuda, find_host
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.target import CudaTarget, Target

# What turns a program into a library, besides the compilers: lowering, emission, flags, and the headers.
_PRODUCERS = ("codegen", "driver", "ir", "passes", "runtime/include", "target")


def module_key(module: Module, target: Target, options: CompilerOptions) -> str:
    """The key of a program: the same in every process, on every machine, under every path."""
    text = canonical_module_text(module) + target_text(module, target) + options.canonical_text()
    return hashlib.sha256(text.encode()).hexdigest()


def library_key(key: str, target: Target) -> str:
    """The key of the library that this machine makes of a program: also headers, compilers, machine and FFI count."""
    host = find_host()
    parts = [key, producer_digest(), f"tvm_ffi {tvm_ffi.__version__}", platform.machine(), compiler_identity(host.cxx)]
    parts += [_version_text(root) for root in host.include]
    if isinstance(target, CudaTarget):
        parts.append(compiler_identity(find_cuda().nvcc))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


_SOURCES = (".py", ".h", ".cuh", ".toml")


@functools.cache
def producer_digest() -> str:
    """Digest of the content of this package's compiler and headers; file times and paths do not count."""
    return tree_digest(PACKAGE, _PRODUCERS)


def tree_digest(root: Path, folders: Sequence[str]) -> str:
    """Digest of names and contents of the sources under some folders of `root`.

    (Each process asks once, before it can find a library on disk: os.walk takes a fifth of the time of Path.rglob.)
    """
    digest, prefix = hashlib.sha256(), f"{root}{os.sep}"
    for folder in folders:
        names = [
            os.path.join(place, name)
            for place, _, files in os.walk(root / folder)
            for name in files
            if name.endswith(_SOURCES) and not name.endswith("_test.py")
        ]
        for name in sorted(names):
            with open(name, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            digest.update(f"{name.removeprefix(prefix)} {content}\n".encode())
    return digest.hexdigest()


@functools.cache
def _version_text(include: Path) -> str:
    """What headers of others say about their version."""
    for name in ("cutlass/version.h", "cuda_runtime_api.h"):
        if (include / name).is_file():
            lines = (include / name).read_text(errors="replace").splitlines()
            return "\n".join(line for line in lines if line.startswith(("#define CUTLASS_", "#define CUDART_VERSION")))
    return ""
