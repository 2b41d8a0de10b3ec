"""lower, build, compile and load: the steps of a compile, without a cache."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.driver.device_code import DEVICE_CODE
from tilefoundry.driver.dump import dumping
from tilefoundry.driver.inputs import require_module, resolve_target
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower as lower_to_tir
from tilefoundry.runtime.compiled import BuildInfo, CompiledModule
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CudaTarget, Target


def isa_of(target: Target) -> str:
    """The compile architecture of a CUDA target, the instruction set of a CPU target."""
    return target.arch if isinstance(target, CudaTarget) else target.isa  # type: ignore[attr-defined]


def lower(mod: Module, target: str | Target | None = None, *, options: CompilerOptions | None = None) -> Module:
    """A Module of HIR as a verified Module of TIR.

    Args:
        target: what to compile for, as `jit` takes it.
        options: how to compile; what of it concerns the passes.

    Raises:
        WrongTypeError: `mod` is no Module.
        WrongValueError: the target is unknown or not the Module's, or the Module has no entry.
        VerifyError, CompileError: the program is not well formed, or has no form on the target.
    """
    module = require_module(mod, "lower")
    module.entry_function()
    chosen = resolve_target(module, target)
    with dumping("lower", module):
        return lower_to_tir(module, chosen, stages=options.stages if options is not None else None)


def build(mod: Module, target: str | Target | None = None, *, options: CompilerOptions | None = None) -> CompiledModule:
    """A Module of TIR, compiled and loaded. It has no key: keys name what authors write.

    Raises:
        WrongTypeError, WrongValueError: as `lower`.
        CompileError: the compiler is missing or failed.
    """
    module = require_module(mod, "build")
    started = time.perf_counter()
    chosen = resolve_target(module, target)
    with dumping("build", module):
        return _build(module, chosen, options or CompilerOptions(), "", started)


def _build(module: Module, target: Target, options: CompilerOptions, key: str, started: float) -> CompiledModule:
    linkable = emit_module(module, target, min_ctas_per_sm=options.min_ctas_per_sm, checking=options.checking)
    with tempfile.TemporaryDirectory(prefix="tilefoundry-") as folder:
        library = write_artifact(linkable, options, Path(folder), linkable.entry.name, {isa_of(target): key})
        origin = BuildInfo("compiled", time.perf_counter() - started)
        return load_linked_module(read_artifact(library), origin, DEVICE_CODE)


def compile(  # the name that users know
    mod: Module, target: str | Target | None = None, *, options: CompilerOptions | None = None
) -> CompiledModule:
    """A Module of HIR, compiled and loaded: ``build(lower(mod))``. `jit` does the same through its caches.

    Raises:
        As `lower` and `build`.
    """
    started = time.perf_counter()
    module = require_module(mod, "compile")
    chosen = resolve_target(module, target)
    options = options or CompilerOptions()
    key = module_key(module, chosen, options)
    with dumping("compile", module):
        return _build(lower(module, chosen, options=options), chosen, options, key, started)


def load(path: str | os.PathLike[str], entry: str | None = None) -> CompiledModule:
    """A kernel library that `tilefoundry_kernel` built, ready to be called as what `jit` returns.

    Args:
        entry: which kernel of a library that `tilefoundry_kernel_library` built; such a library has several.

    Raises:
        WrongTypeError: `path` is no path.
        FileNotFoundError: there is no such file.
        LibraryError: it is not one of TileFoundry's, or not for this machine.
        WrongValueError: the library has several entries and none is named, or it has none of that name.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise WrongTypeError(
            f"load: expected the path of a library, got {type(path).__name__}",
            remedy='write load("name.so"); jit compiles a Module',
        )
    started = time.perf_counter()
    linked = read_artifact(Path(path), entry)
    return load_linked_module(linked, BuildInfo("library", time.perf_counter() - started), DEVICE_CODE)
