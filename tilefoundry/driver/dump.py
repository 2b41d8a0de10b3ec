"""DumpScope: what happens inside of a compile, as files.

While a scope is open, each `lower`, `build`, `compile` and `jit` of its thread fills a folder of its own:

    001_jit_Scale/
        000_input.py               the program as it came: before the first pass
        001_inline-children.py     after this pass, and before the next one
        ...
        008_assign-target.txt      what cannot be written as source is canonical text
        009_scale.cc               generated sources
        010_host_entry.cc
        build.log                  times of passes, command lines of compilers, what they printed, how long they took

A program that `jit` has compiled before shows what there is: the input, the sources, and a log that says where they
were found. One scope shows it once, however often it is asked for.
"""

from __future__ import annotations

import enum
import os
import re
import shlex
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from pathlib import Path

from tilefoundry.diagnostics import CompileError, ExtractError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.text import as_script, canonical_module_text
from tilefoundry.passes.observer import observing


class DumpFlags(enum.Flag):
    """What a `DumpScope` writes."""

    IR = enum.auto()
    SOURCES = enum.auto()
    LOGS = enum.auto()
    ALL = IR | SOURCES | LOGS


class DumpScope:
    """Writes what compiles do, as long as it is open: ``with DumpScope("dump"): jit(program)``.

    It holds for the thread (the context, see `contextvars`) that opens it; of nested scopes the inner one holds. What
    was there before is kept: folders are numbered on.

    Args:
        dir: the folder; made when the scope is opened.
        flags: what to write.

    Raises:
        WrongTypeError: `dir` is no path, or `flags` no DumpFlags.
        WrongValueError: when it is opened: the folder cannot be made or written.
        CompileError: during a compile: a file cannot be written.
    """

    def __init__(self, dir: str | os.PathLike[str], flags: DumpFlags = DumpFlags.ALL) -> None:
        if not isinstance(dir, (str, os.PathLike)):
            raise WrongTypeError(f"DumpScope: dir must be a path, got {dir!r}", remedy='write e.g. DumpScope("dump")')
        if not isinstance(flags, DumpFlags):
            raise WrongTypeError(
                f"DumpScope: flags must be DumpFlags, got {flags!r}", remedy="write e.g. DumpFlags.IR | DumpFlags.LOGS"
            )
        self.dir = Path(dir)
        self.flags = flags
        self._folders: list[Path] = []
        self._shown: set[str] = set()
        self._lock = threading.Lock()
        self._tokens: list[Token[DumpScope | None]] = []

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the compiles so far, in order."""
        return tuple(self._folders)

    def __enter__(self) -> DumpScope:
        try:
            self.dir.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.dir):
                pass
        except OSError as error:
            raise WrongValueError(
                f"DumpScope: dir '{self.dir}' cannot be written: {error}", remedy="name a folder of your own"
            ) from error
        self._tokens.append(_SCOPE.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _SCOPE.reset(self._tokens.pop())

    def first_of(self, key: str) -> bool:
        """Whether this scope has not shown a program yet; from now on it has."""
        with self._lock:
            new = key not in self._shown
            self._shown.add(key)
            return new

    def open_folder(self, name: str) -> Path:
        """A new folder for one compile."""
        label = re.sub(r"[^\w.-]+", "_", name)
        with self._lock:
            number = len(self._folders)
            while True:  # other scopes and processes may use the folder as well
                number += 1
                if any(self.dir.glob(f"{number:03}_*")):
                    continue
                folder = self.dir / f"{number:03}_{label}"
                try:
                    folder.mkdir()
                except FileExistsError:
                    continue
                except OSError as error:
                    raise _unwritable(folder, error) from error
                self._folders.append(folder)
                return folder


class CompileDump:
    """The folder of one compile; sees its passes. Threads may share it."""

    def __init__(self, folder: Path, flags: DumpFlags) -> None:
        self.folder = folder
        self.flags = flags
        self._count = 0
        self._last: Module | None = None
        self._lock = threading.Lock()

    def form(self, name: str, module: Module) -> None:
        """Writes the IR of a program."""
        if DumpFlags.IR in self.flags:
            try:
                self._numbered(f"{name}.py", as_script(module))
            except ExtractError:  # what a pass made may have no source, such as a span of shared memory
                self._numbered(f"{name}.txt", canonical_module_text(module))

    def sources(self, texts: Mapping[str, str]) -> None:
        """Writes generated sources."""
        if DumpFlags.SOURCES in self.flags:
            for name, text in texts.items():
                self._numbered(name, text)

    def log(self, text: str) -> None:
        """Adds to the log."""
        if DumpFlags.LOGS not in self.flags:
            return
        path = self.folder / "build.log"
        with self._lock:
            try:
                with path.open("a", encoding="utf-8") as file:
                    file.write(text.rstrip() + "\n")
            except OSError as error:
                raise _unwritable(path, error) from error

    def command(
        self,
        what: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        printed: str,
        status: int,
        seconds: float,
    ) -> None:
        """Adds a command that ran, in a form that a shell takes."""
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        self.log(f"{what}: status {status}, {seconds:.3f} s\n$ env -i {variables} {shlex.join(command)}\n{printed}")

    def found(self, where: str, sources: Mapping[str, str]) -> None:
        """Says that a cache had the program, and shows what the cache has."""
        self.sources(sources)
        self.log(f"found in {where}: no pass and no compiler ran")

    # as an observer of passes

    def started(self, module: Module) -> None:
        """Passes run: on what is written already, as a rule."""
        if module is not self._last:
            self.form("input", module)

    def passed(self, name: str, module: Module, seconds: float) -> None:
        """A pass made something."""
        self.form(name, module)
        self.log(f"pass '{name}': {seconds:.3f} s")

    def failed(self, name: str, error: Exception) -> None:
        """A pass refused the program."""
        self.log(f"pass '{name}' failed: {type(error).__name__}: {error}")

    def input(self, module: Module) -> None:
        """Writes the program that is compiled."""
        self.form("input", module)
        self._last = module

    def _numbered(self, name: str, text: str) -> None:
        with self._lock:
            path = self.folder / f"{self._count:03}_{name}"
            self._count += 1
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise _unwritable(path, error) from error


_SCOPE: ContextVar[DumpScope | None] = ContextVar("tilefoundry dump scope", default=None)
_COMPILE: ContextVar[CompileDump | None] = ContextVar("tilefoundry compile dump", default=None)


def active_scope() -> DumpScope | None:
    """The scope that is open in this context."""
    return _SCOPE.get()


def current_dump() -> CompileDump | None:
    """The folder of the compile that runs in this context, if it is dumped."""
    return _COMPILE.get()


@contextmanager
def dumping(caller: str, module: Module, key: str = "") -> Iterator[CompileDump | None]:
    """Opens the folder of a compile; inside of another compile that one's, outside of a scope none.

    Args:
        caller: the entry point, for the name of the folder.
        module: the program.
        key: its key; `dump_hit` does not show it again.
    """
    scope, outer = _SCOPE.get(), _COMPILE.get()
    if scope is None or outer is not None:
        yield outer
        return
    if key:
        scope.first_of(key)
    dump = CompileDump(scope.open_folder(f"{caller}_{module.name}"), scope.flags)
    token = _COMPILE.set(dump)
    try:
        with observing(dump):
            dump.input(module)
            yield dump
    except BaseException as error:
        dump.log(f"{caller} failed: {type(error).__name__}: {error}")
        raise
    finally:
        _COMPILE.reset(token)


def dump_hit(caller: str, module: Module, key: str, sources: Mapping[str, str], where: str) -> None:
    """Shows a program that a cache had, unless this scope has shown it; does nothing outside of a scope."""
    scope = _SCOPE.get()
    if scope is None or not scope.first_of(key):
        return
    with dumping(caller, module) as dump:
        assert dump is not None
        dump.found(f"{where}, under the key {key}", sources)


def _unwritable(path: Path, error: OSError) -> CompileError:
    # no OSError: a compile takes those for a cache that cannot be written
    return CompileError(f"DumpScope: '{path}' cannot be written: {error}", remedy="make room, or name another folder")
