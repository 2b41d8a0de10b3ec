"""A directory that appears under its name when it is complete, or not at all."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilefoundry.diagnostics import TileFoundryError

# Linux: renameat2(2), which swaps two names in one step.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


class OutputExistsError(TileFoundryError, FileExistsError):
    """The place where something is to be written is taken."""


@contextmanager
def published_directory(target: Path, overwrite: bool) -> Iterator[Path]:
    """A new directory beside `target`, renamed to it when the block ends; removed when the block raises.

    A process that is killed leaves the unfinished directory behind, as ``.<name>.<digits>.partial``; the next one to
    publish under that name removes it. With `overwrite` a directory that is there changes places with the new one in a
    single step: at every moment there is one of the two, whole, under the name.

    Raises:
        OutputExistsError: `target` is a file, or has content and `overwrite` is not given.
    """
    target = Path(os.path.abspath(target))
    _require_free(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging, handle = _staging(target)
    try:
        yield staging
        os.fsync(handle)
        _publish(staging, target, overwrite)
        _sync(target.parent)
    finally:
        # What is under this name now is unfinished, or what was replaced.
        shutil.rmtree(staging, ignore_errors=True)
        os.close(handle)


def _require_free(target: Path, overwrite: bool) -> None:
    if target.exists() and not target.is_dir():
        raise OutputExistsError(f"{target} is not a directory", remedy="choose another out_dir")
    if not overwrite and target.is_dir() and any(target.iterdir()):
        raise _taken(target)


def _taken(target: Path) -> OutputExistsError:
    return OutputExistsError(
        f"{target} exists and is not empty", remedy="choose another out_dir, or pass overwrite=True"
    )


def _staging(target: Path) -> tuple[Path, int]:
    """A new directory, and a handle that holds its lock for as long as this process lives."""
    staging = target.parent / f".{target.name}.{uuid.uuid4().hex}.partial"
    parent = os.open(target.parent, os.O_RDONLY)
    try:
        # So that nobody takes a directory for abandoned of which the lock is about to be taken.
        if _lock(parent, wait=True):
            _remove_abandoned(target)
        staging.mkdir()
        handle = os.open(staging, os.O_RDONLY)
        _lock(handle, wait=False)
    finally:
        os.close(parent)
    return staging, handle


def _remove_abandoned(target: Path) -> None:
    """Removes what killed processes left: unfinished directories of which nobody holds the lock."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.{'[0-9a-f]' * 32}.partial"):
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:
            continue  # its process was just done with it, or it is not ours to open
        if _lock(handle, wait=False):
            shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _lock(handle: int, wait: bool) -> bool:
    """Whether the lock is taken; it is not where another process holds it, or where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _publish(staging: Path, target: Path, overwrite: bool) -> None:
    while True:
        try:
            staging.rename(target)  # which takes the place of an empty directory, too
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if not overwrite:
            raise _taken(target)  # by a process that was faster
        try:
            _exchange(staging, target)
            return
        except FileNotFoundError:
            continue  # somebody moved it away in between


def _exchange(first: Path, second: Path) -> None:
    """Lets two directories change places in one step, or, where the system cannot, in three."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise OSError(code, os.strerror(code), str(second))
    aside = first.with_name(f"{first.name}.old")
    second.rename(aside)
    first.rename(second)
    aside.rename(first)


def _sync(directory: Path) -> None:
    """Makes the entries of a directory durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
