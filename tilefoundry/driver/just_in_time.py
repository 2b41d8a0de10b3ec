"""jit: compile with both caches, in the process and on disk."""

from __future__ import annotations

import collections
import errno
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import CompileError, WrongTypeError
from tilefoundry.driver.cache import DiskCache, default_root, open_cache, temporary_cache
from tilefoundry.driver.device_code import DEVICE_CODE
from tilefoundry.driver.dump import active_scope, current_dump, dump_hit, dumping
from tilefoundry.driver.inputs import check_target, normalize_to_module, resolve_target
from tilefoundry.driver.keys import library_key, module_key
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.pipeline import isa_of, lower
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.runtime.compiled import BuildInfo, CompiledModule
from tilefoundry.runtime.library import LibraryError
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import Target

_RECENT = 256  # programs whose key is remembered by identity
_LEAST_ROOM = 64 << 20  # bytes; a compile that fails with less is taken to have filled the disk


class Jit:
    """The type of `jit`: a function with a cache."""

    def __init__(self) -> None:
        self._modules: dict[str, CompiledModule] = {}
        # Programs are immutable, so one object has one key. Holding them keeps their identities from being reused.
        self._recent: collections.OrderedDict[tuple[object, ...], tuple[object, CompiledModule]] = (
            collections.OrderedDict()
        )
        self._compiling: dict[str, threading.Lock] = {}
        self._disks: dict[Path, DiskCache] = {}
        self._lock = threading.Lock()

    def __call__(
        self,
        fn_or_mod: Function | PrimFunction | Module,
        *,
        target: str | Target | None = "cuda",
        options: CompilerOptions | None = None,
    ) -> CompiledModule:
        """Compiles a program, or finds it compiled.

        Args:
            fn_or_mod: a Module with an entry, a Function, or a kernel or host function of TIR.
            target: "cuda", which means what the Module declares if it does; "cpu", where a Module placed for CUDA keeps
                its placement; or a Target.
            options: how to compile.

        Returns:
            The compiled entry; the same object for the same program.

        Raises:
            WrongTypeError: not a program of TileFoundry's.
            WrongValueError: the target is unknown or not the Module's, or the Module has no entry.
            VerifyError, CompileError: the program is not well formed, has no form on the target, or does not compile.
        """
        started = time.perf_counter()
        options = CompilerOptions() if options is None else options
        if not isinstance(options, CompilerOptions):
            raise WrongTypeError(f"options: expected CompilerOptions, got {options!r}")
        recent = (id(fn_or_mod), check_target(target), options)
        with self._lock:
            known = self._recent.get(recent)
        if known is not None:
            if active_scope() is not None:
                _dump_hit(normalize_to_module(fn_or_mod), known[1])
            return known[1]
        module = normalize_to_module(fn_or_mod)
        module.entry_function()
        chosen = resolve_target(module, target)
        key = module_key(module, chosen, options)
        with self._lock:
            compiling = self._compiling.setdefault(key, threading.Lock())
        with compiling:
            compiled = self._modules.get(key)
            if compiled is not None:
                _dump_hit(module, compiled)
            else:
                with dumping("jit", module, key):
                    compiled = self._modules[key] = self._through_disk(module, chosen, options, key, started)
        with self._lock:
            self._compiling.pop(key, None)
            self._recent[recent] = (fn_or_mod, compiled)
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)
        return compiled

    def cache_clear(self) -> None:
        """Forgets every compiled module of this process; the disk cache stays."""
        with self._lock:
            self._modules.clear()
            self._recent.clear()

    def cache_info(self) -> dict[str, int]:
        """``{"size": n}``: how many compiled modules this process holds."""
        with self._lock:
            return {"size": len(self._modules)}

    def _through_disk(
        self, module: Module, target: Target, options: CompilerOptions, key: str, started: float
    ) -> CompiledModule:
        name = str(module.entry)

        def make(folder: Path) -> None:
            lowered = lower(module, target, options=options)
            linkable = emit_module(lowered, target, min_ctas_per_sm=options.min_ctas_per_sm, checking=options.checking)
            try:
                write_artifact(linkable, options, folder, name, {isa_of(target): key})
            except CompileError as error:  # compilers do not say why in a way that programs can read
                if shutil.disk_usage(folder).free < _LEAST_ROOM:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error
                raise

        disk_key = library_key(key, target)
        while True:
            disk, entry, hit = self._entry(disk_key, make)
            try:
                identity = _identity(entry)
                linked = read_artifact(entry / f"{name}.so")
                origin = BuildInfo("disk cache" if hit else "compiled", time.perf_counter() - started)
                if hit and (linked.target, linked.isa) != (target.canonical_text(), isa_of(target)):
                    raise LibraryError(f"'{linked.library}' is for {linked.target}")
                compiled = load_linked_module(linked, origin, DEVICE_CODE)
                if _identity(entry) == identity:
                    if hit and (dump := current_dump()) is not None:
                        dump.found(f"the disk cache, {entry}", linked.sources)
                    return compiled
            except FileNotFoundError:
                # Another process dropped it, to make room, before all of it was read; or it holds another library.
                if entry.is_dir():
                    disk.discard(entry)
            except LibraryError:
                if not hit:
                    raise
                disk.discard(entry)  # whole, and yet not for this machine: a cache that was copied from another

    def _entry(self, key: str, make: Callable[[Path], None]) -> tuple[DiskCache, Path, bool]:
        """The cache that holds an entry, its folder, and whether it was there; out of a full cache, a temporary one."""
        disk = self._disk()
        try:
            return disk, *disk.get_or_make(key, make)
        except OSError as error:
            warnings.warn(
                f"kernel cache '{disk.root}' cannot be written: {error}; using a private temporary folder",
                RuntimeWarning,
                stacklevel=4,
            )
            with self._lock:
                disk = self._disks[default_root()] = temporary_cache()
            return disk, *disk.get_or_make(key, make)

    def _disk(self) -> DiskCache:
        root = default_root()
        with self._lock:
            if root not in self._disks:
                self._disks[root] = open_cache(root)
            return self._disks[root]


def _dump_hit(module: Module, compiled: CompiledModule) -> None:
    linked = compiled.linked
    assert linked is not None  # of what jit made
    dump_hit("jit", module, linked.key, linked.sources, "the cache of this process")


def _identity(folder: Path) -> tuple[int, int]:
    """What no other folder has that is there later, under the same name."""
    status = folder.stat()
    return status.st_ino, status.st_ctime_ns


jit = Jit()
