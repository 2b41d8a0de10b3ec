"""The disk cache: one folder for each library, published by a single rename and verified whenever it is read."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

_MANIFEST = "manifest.json"
_DEFAULT_LIMIT = 4 << 30  # bytes


class DiskCache:
    """Folders of files under a root, addressed by key. Safe between threads and processes, and under kill -9.

    Args:
        root: a folder that only this user may write; made when missing.
        limit: bytes to keep; the entries that were used longest ago are dropped first.
    """

    def __init__(self, root: Path, limit: int = _DEFAULT_LIMIT) -> None:
        self.root = root
        self._limit = limit
        for folder in ("entries", "staging", "locks"):
            (root / folder).mkdir(mode=0o700, parents=True, exist_ok=True)

    def get_or_make(self, key: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
        """The folder of an entry, and whether it was there already.

        A missing or damaged entry is made by `make`, which fills an empty folder; one process makes it while those that
        want the same one wait.

        Raises:
            OSError: the cache cannot be written.
        """
        found = self.get(key)
        if found is not None:
            return found, True
        with self._locked(key):
            found = self.get(key)  # made while this process waited
            if found is not None:
                return found, True
            return self._publish(key, make), False

    def get(self, key: str) -> Path | None:
        """The folder of an intact entry, or None. A damaged one is removed."""
        entry = self._entry(key)
        if not entry.is_dir():
            return None
        if not _is_intact(entry):
            self._discard(entry)
            return None
        with contextlib.suppress(OSError):  # a read-only cache has no order of use
            os.utime(entry / _MANIFEST)
        return entry

    def _entry(self, key: str) -> Path:
        return self.root / "entries" / key

    def _entries(self) -> list[Path]:
        return sorted(p for p in (self.root / "entries").iterdir() if p.is_dir())

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        # The kernel drops the lock with the process, so nobody waits for the dead.
        with open(self.root / "locks" / key, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _publish(self, key: str, make: Callable[[Path], None]) -> Path:
        for stale in (self.root / "staging").glob(f"{key}.*"):  # of a process that died while it held the lock
            shutil.rmtree(stale, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self.root / "staging"))
        try:
            make(staging)
            files = {str(p.relative_to(staging)): _digest(p) for p in sorted(staging.rglob("*")) if p.is_file()}
            (staging / _MANIFEST).write_text(json.dumps({"key": key, "files": files}, indent=1))
            entry = self._entry(key)
            staging.rename(entry)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        self._prune(keep=entry)
        return entry

    def _discard(self, entry: Path) -> None:
        # renamed first, so that nobody finds half of it
        doomed = Path(tempfile.mkdtemp(prefix="discarded.", dir=self.root / "staging"))
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            entry.rename(doomed / entry.name)
        shutil.rmtree(doomed, ignore_errors=True)

    def _prune(self, keep: Path) -> None:
        sizes: list[tuple[float, int, Path]] = []
        for entry in self._entries():
            with contextlib.suppress(FileNotFoundError):  # discarded meanwhile
                size = sum(p.stat().st_size for p in entry.rglob("*") if p.is_file())
                sizes.append(((entry / _MANIFEST).stat().st_mtime, size, entry))
        excess = sum(size for _, size, _ in sizes) - self._limit
        for _, size, entry in sorted(sizes):
            if excess <= 0:
                break
            if entry != keep:
                self._discard(entry)
                excess -= size
        for stale in (self.root / "staging").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - stale.stat().st_mtime > 86400:
                    shutil.rmtree(stale, ignore_errors=True)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_intact(entry: Path) -> bool:
    try:
        files = json.loads((entry / _MANIFEST).read_text())["files"]
        return all(_digest(entry / name) == digest for name, digest in files.items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False  # truncated, missing or no manifest at all: damaged all the same


def default_root() -> Path:
    """TILEFOUNDRY_CACHE_DIR, else ``tilefoundry/kernels`` in the user's cache folder, else a temporary one."""
    named = os.environ.get("TILEFOUNDRY_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "tilefoundry" / "kernels"
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir()) / f"tilefoundry-{os.geteuid()}"


def open_cache(root: Path) -> DiskCache:
    """A cache at `root`; where that cannot be written, or others could write it, one in a private temporary folder.

    The fallback is announced by one RuntimeWarning and lasts as long as the process.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
        if status.st_uid != os.geteuid():
            reason = "it belongs to another user"
        elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            reason = "others may write it"
        else:
            cache = DiskCache(root)
            with tempfile.TemporaryFile(dir=root / "staging"):
                return cache
    except OSError as error:
        reason = str(error)
    warnings.warn(
        f"kernel cache '{root}' is not used: {reason}; compiled kernels are kept for this process only "
        "(set TILEFOUNDRY_CACHE_DIR to a folder of your own)",
        RuntimeWarning,
        stacklevel=2,
    )
    return temporary_cache()


def temporary_cache() -> DiskCache:
    """A cache in a private folder that is removed when the process ends."""
    root = Path(tempfile.mkdtemp(prefix="tilefoundry-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return DiskCache(root)
