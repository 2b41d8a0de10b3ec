"""Upkeep of the disk cache: what it holds, whether that is intact, and throwing it away."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.driver.cache import (
    MANIFEST,
    DiskCache,
    damage,
    default_limit,
    default_root,
    files_of,
    mistrust,
    size_of,
)


@dataclass(frozen=True)
class CacheEntry:
    """One compiled library on disk.

    Attributes:
        key: digest of the program, the target, the options, the headers and the compilers.
        name: the entry of the program; empty if the folder holds no library.
        bytes: of all its files.
        age: seconds since it was compiled.
        idle: seconds since it was used.
    """

    key: str
    name: str
    bytes: int
    age: float
    idle: float


@dataclass(frozen=True)
class CacheReport:
    """What a cache holds; the entry that was used last comes first.

    Attributes:
        root: its folder.
        limit: bytes that it may hold.
        entries: what it holds.
    """

    root: Path
    limit: int
    entries: tuple[CacheEntry, ...]

    @property
    def bytes(self) -> int:
        """Of all entries."""
        return sum(entry.bytes for entry in self.entries)


@dataclass(frozen=True)
class Verification:
    """What came of a verification.

    Attributes:
        intact: number of entries whose files have the digests that were recorded when they were compiled.
        damaged: key to what is wrong, of the entries that were removed.
    """

    intact: int
    damaged: dict[str, str]


def report(root: Path | None = None) -> CacheReport:
    """What the cache at `root` holds, `jit`'s if it is left out; nothing where there is none.

    Raises:
        OSError: the folder cannot be read.
    """
    cache, now = _cache(root), time.time()
    entries: list[CacheEntry] = []
    for entry in cache.entries():
        with contextlib.suppress(FileNotFoundError):  # dropped by another process meanwhile
            library = next((Path(name).stem for name in files_of(entry) if name.endswith(".so")), "")
            # a rename leaves the time of the folder; the manifest's is the time of the last use
            age, idle = (now - p.stat().st_mtime for p in (entry, entry / MANIFEST))
            entries.append(CacheEntry(entry.name, library, size_of(entry), max(age, 0.0), max(idle, 0.0)))
    return CacheReport(cache.root, cache.limit, tuple(sorted(entries, key=lambda e: e.idle)))


def verify(root: Path | None = None) -> Verification:
    """Compares every entry with its digests, and removes the damaged ones.

    Raises:
        OSError: the folder cannot be read or written.
        WrongValueError: the folder is another user's, or others may write it.
    """
    cache = _own(root)
    intact, damaged = 0, {}
    for entry in cache.entries():
        reason = damage(entry)
        if reason is None:
            intact += 1
        elif entry.is_dir():  # else another process dropped it meanwhile
            cache.discard(entry)
            damaged[entry.name] = reason
    return Verification(intact, damaged)


def clear(root: Path | None = None) -> CacheReport:
    """Removes every entry and returns what there was. Loaded modules keep working, and compiles go on.

    Raises:
        OSError, WrongValueError: as `verify`.
    """
    cache = _own(root)
    before = report(root)
    for entry in cache.entries():
        cache.discard(entry)
    return before


def _cache(root: Path | None) -> DiskCache:
    return DiskCache(default_root() if root is None else root, default_limit())


def _own(root: Path | None) -> DiskCache:
    cache = _cache(root)
    with contextlib.suppress(FileNotFoundError):
        reason = mistrust(cache.root)
        if reason is not None:
            raise WrongValueError(
                f"kernel cache '{cache.root}' is not used: {reason}",
                remedy="set TILEFOUNDRY_CACHE_DIR to a folder of your own",
            )
    return cache
