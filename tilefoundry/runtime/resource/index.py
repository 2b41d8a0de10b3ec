"""Which shard of a checkpoint directory holds which tensor."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tilefoundry.runtime.resource.errors import CheckpointFormatError, CheckpointNotFoundError
from tilefoundry.runtime.resource.header import parse_json, read_header

INDEX_NAME = "model.safetensors.index.json"
SINGLE_NAME = "model.safetensors"


@dataclass(frozen=True)
class CheckpointIndex:
    """`weight_map`: raw key to shard, a path relative to the directory. `source`: the file that says so."""

    source: Path
    weight_map: dict[str, str]


def read_index(directory: Path) -> CheckpointIndex:
    """The index of a checkpoint; a single unsharded file is its own index. With both, the index wins.

    Raises:
        CheckpointNotFoundError: the directory holds neither.
        CheckpointFormatError: the index is malformed, or names a shard outside the directory.
    """
    source, single = directory / INDEX_NAME, directory / SINGLE_NAME
    if source.is_file():
        weight_map = _weight_map(source, directory)
        if single.is_file() and SINGLE_NAME not in weight_map.values():
            warnings.warn(f"{single} is ignored: {INDEX_NAME} beside it does not name it", stacklevel=4)
        return CheckpointIndex(source, weight_map)
    if single.is_file():
        return CheckpointIndex(single, dict.fromkeys(read_header(single), SINGLE_NAME))
    others = sorted(path.name for path in directory.glob("*.safetensors")) if directory.is_dir() else []
    raise CheckpointNotFoundError(
        f"{directory} holds neither {INDEX_NAME} nor {SINGLE_NAME}"
        + (f"; it holds {', '.join(others)}" if others else "")
    )


def _weight_map(source: Path, directory: Path) -> dict[str, str]:
    document = parse_json(source.read_bytes(), f"index {source}")
    if not isinstance(document, dict):
        raise CheckpointFormatError(f"index {source} is malformed: expected an object, got a {type(document).__name__}")
    if "weight_map" not in document:
        raise CheckpointFormatError(f"index {source} is malformed: it has no weight_map")
    weight_map = document["weight_map"]
    if not isinstance(weight_map, dict):
        raise CheckpointFormatError(
            f"index {source} is malformed: weight_map must be an object, got a {type(weight_map).__name__}"
        )
    for tensor, shard in weight_map.items():
        if not isinstance(shard, str):
            raise CheckpointFormatError(
                f"index {source} is malformed: weight_map[{tensor!r}] must be a file name, got {shard!r}"
            )
        if not _stays_inside(shard):
            raise CheckpointFormatError(
                f"index {source}: weight_map[{tensor!r}] is {shard!r}, which is no path inside {directory}"
            )
    return weight_map


def _stays_inside(shard: str) -> bool:
    # By the text alone: a symbolic link inside the directory may lead anywhere (a hub cache is made of them), while
    # `a/..` may leave the directory through a link, so no ".." is taken at all.
    path = PurePosixPath(shard)
    drive_or_backslash = "\\" in shard or ":" in shard.split("/", 1)[0]
    return bool(path.parts) and not (path.is_absolute() or ".." in path.parts or drive_or_backslash or "\0" in shard)
