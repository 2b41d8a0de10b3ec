"""A directory that appears under its name when it is complete, or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilefoundry.diagnostics import TileFoundryError


class OutputExistsError(TileFoundryError, FileExistsError):
    """The place where something is to be written is taken."""


@contextmanager
def published_directory(target: Path, overwrite: bool) -> Iterator[Path]:
    """A new directory beside `target`, renamed to it when the block ends; removed when the block raises.

    A process that is killed leaves the unfinished directory behind, as ``.<name>.<digits>.partial``. With `overwrite`
    the old directory is moved aside before the new one takes its name, and is deleted only then.

    Raises:
        OutputExistsError: `target` is a file, or has content and `overwrite` is not given.
    """
    target = Path(os.path.abspath(target))
    _require_free(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = f".{target.name}.{uuid.uuid4().hex}"
    staging, old = target.parent / f"{beside}.partial", target.parent / f"{beside}.old"
    staging.mkdir()
    try:
        yield staging
        _sync(staging)
        _require_free(target, overwrite)  # again: another process may have been faster
        if overwrite and target.exists():
            target.rename(old)
        try:
            staging.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _require_free(target: Path, overwrite: bool) -> None:
    if target.exists() and not target.is_dir():
        raise OutputExistsError(f"{target} is not a directory", remedy="choose another out_dir")
    if not overwrite and target.is_dir() and any(target.iterdir()):
        raise OutputExistsError(
            f"{target} exists and is not empty", remedy="choose another out_dir, or pass overwrite=True"
        )


def _sync(directory: Path) -> None:
    """Makes the entries of a directory durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
