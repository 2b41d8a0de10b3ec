"""The disk cache: one folder for each library, published by a single rename and verified whenever it is read."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from tilefoundry.diagnostics import WrongValueError

MANIFEST = "manifest.json"
_DEFAULT_LIMIT = 4 << 30  # bytes
_KEY = re.compile("[0-9a-f]{64}")


class DiskCache:
    """Folders of files under a root, addressed by key. Safe between threads and processes, and under kill -9.

    Args:
        root: a folder that only this user may write; made when something is written.
        limit: bytes to keep; the entries that were used longest ago are dropped first.
    """

    def __init__(self, root: Path, limit: int = _DEFAULT_LIMIT) -> None:
        self.root = root
        self.limit = limit

    def prepare(self) -> None:
        """Makes the folders of the cache.

        Raises:
            OSError: they cannot be made.
        """
        for folder in ("entries", "staging", "locks"):
            (self.root / folder).mkdir(mode=0o700, parents=True, exist_ok=True)

    def get_or_make(self, key: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
        """The folder of an entry, and whether it was there already.

        A missing or damaged entry is made by `make`, which fills an empty folder; one process makes it while those that
        want the same one wait. Another process may drop the entry at any time, to make room; it is gone as a whole.

        Raises:
            OSError: the cache cannot be written.
        """
        found = self.get(key)
        if found is not None:
            return found, True
        self.prepare()
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
        if damage(entry) is not None:
            self.discard(entry)
            return None
        with contextlib.suppress(OSError):  # a read-only cache has no order of use
            os.utime(entry / MANIFEST)
        return entry

    def entries(self) -> list[Path]:
        """The folders of all entries, damaged ones included, by key."""
        try:
            return sorted(p for p in (self.root / "entries").iterdir() if _KEY.fullmatch(p.name) and p.is_dir())
        except FileNotFoundError:
            return []

    def discard(self, entry: Path) -> None:
        """Removes an entry. It is renamed first, so that nobody finds half of it."""
        self.prepare()
        doomed = Path(tempfile.mkdtemp(prefix="discarded.", dir=self.root / "staging"))
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            entry.rename(doomed / entry.name)
        shutil.rmtree(doomed, ignore_errors=True)

    def _entry(self, key: str) -> Path:
        return self.root / "entries" / key

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
            files = {name: _digest(staging / name) for name in files_of(staging)}
            (staging / MANIFEST).write_text(json.dumps({"key": key, "files": files}, indent=1))
            entry = self._entry(key)
            staging.rename(entry)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        self._prune(keep=entry)
        return entry

    def _prune(self, keep: Path) -> None:
        sizes: list[tuple[float, int, Path]] = []
        for entry in self.entries():
            with contextlib.suppress(FileNotFoundError):  # discarded meanwhile
                sizes.append(((entry / MANIFEST).stat().st_mtime, size_of(entry), entry))
        excess = sum(size for _, size, _ in sizes) - self.limit
        for _, size, entry in sorted(sizes):
            if excess <= 0:
                break
            if entry != keep:
                self.discard(entry)
                excess -= size
        for stale in (self.root / "staging").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - stale.stat().st_mtime > 86400:
                    shutil.rmtree(stale, ignore_errors=True)


def files_of(entry: Path) -> list[str]:
    """Names of the files of an entry, the manifest aside."""
    names = (str(p.relative_to(entry)) for p in entry.rglob("*") if p.is_file())
    return sorted(name for name in names if name != MANIFEST)


def size_of(entry: Path) -> int:
    """Bytes of all files of an entry."""
    return sum(p.stat().st_size for p in entry.rglob("*") if p.is_file())


def damage(entry: Path) -> str | None:
    """What is wrong with an entry: its files are compared with the digests in its manifest. None: it is intact."""
    try:
        manifest = json.loads((entry / MANIFEST).read_text())
        if manifest["key"] != entry.name:
            return f"{MANIFEST} is of the entry {manifest['key']}"
        digests = dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"{MANIFEST} is missing or cannot be read"
    for name in sorted({*digests, *files_of(entry)}):
        if name not in digests:
            return f"{name} is not in {MANIFEST}"
        try:
            if _digest(entry / name) != digests[name]:
                return f"{name} has another content"
        except OSError:
            return f"{name} is missing or cannot be read"
    return None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


def default_limit() -> int:
    """Bytes that a cache keeps: TILEFOUNDRY_CACHE_LIMIT, else 4 GiB.

    Raises:
        WrongValueError: the variable is not a number of bytes.
    """
    named = os.environ.get("TILEFOUNDRY_CACHE_LIMIT")
    if not named:
        return _DEFAULT_LIMIT
    if not named.isdecimal():
        raise WrongValueError(
            f"TILEFOUNDRY_CACHE_LIMIT: expected a number of bytes, got {named!r}", remedy="write 1073741824 for 1 GiB"
        )
    return int(named)


def mistrust(root: Path) -> str | None:
    """Why the content of a folder is not to be trusted; None if it may be.

    Raises:
        OSError: it cannot be looked at.
    """
    status = root.stat()
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write it"
    return None


def open_cache(root: Path) -> DiskCache:
    """A cache at `root`; where that cannot be written, or others could write it, one in a private temporary folder.

    The fallback is announced by one RuntimeWarning and lasts as long as the process.
    """
    limit = default_limit()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = mistrust(root)
        if reason is None:
            cache = DiskCache(root, limit)
            cache.prepare()
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
    return DiskCache(root, default_limit())
