"""The header of a safetensors file, checked before anything is mapped or allocated by what it says.

Format: an unsigned 64-bit little-endian length, that many bytes of JSON (tensor name to dtype, shape and byte range,
and optional `__metadata__` of strings), then the data, which the ranges must cover without hole or overlap.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tilefoundry.runtime.resource.errors import CheckpointFormatError

# The limit of the safetensors library itself.
_MAX_HEADER_BYTES = 100_000_000
_BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I8", "U8", "BOOL"), 8),
    "F4": 4,
}


@dataclass(frozen=True)
class _Entry:
    name: str
    begin: int
    end: int


def read_header(path: Path) -> frozenset[str]:
    """Names of the tensors in a shard whose header and size agree.

    Raises:
        CheckpointFormatError: truncated, malformed or inconsistent, with the path and the tensor; or a dtype that
            torch has no counterpart for.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        if len(start) < 8:
            _refuse(path, f"is truncated: {size} bytes hold no header length")
        length = int.from_bytes(start, "little")
        if length > min(size - 8, _MAX_HEADER_BYTES):
            _refuse(path, f"states a header of {length} bytes; the file has {size}, the limit is {_MAX_HEADER_BYTES}")
        text = file.read(length)
    document = parse_json(text, f"shard {path}: the header")
    if not isinstance(document, dict):
        _refuse(path, f"has a header that is no JSON object but a {type(document).__name__}")
    metadata = document.pop("__metadata__", None)
    if metadata is not None and not (
        isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    ):
        _refuse(path, "has a __metadata__ that is no object of strings")
    _require_cover(path, [_entry(path, name, value) for name, value in document.items()], size - 8 - length)
    return frozenset(document)


def parse_json(text: bytes, what: str) -> object:
    """Strict JSON: no duplicate key, no depth or number that Python cannot take."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        table: dict[str, object] = {}
        for key, value in pairs:
            if key in table:
                raise ValueError(f"duplicate key {key!r}")
            table[key] = value
        return table

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise CheckpointFormatError(f"{what} is malformed: {error}") from error


def _entry(path: Path, name: str, value: object) -> _Entry:
    if not isinstance(value, Mapping) or set(value) != {"dtype", "shape", "data_offsets"}:
        _refuse(path, "must be described by dtype, shape and data_offsets", name)
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        _refuse(path, f"has dtype {dtype!r}; supported are {', '.join(sorted(_BITS))}", name)
    if not _sizes(shape):
        _refuse(path, f"has shape {shape!r}, which is no list of extents", name)
    if not _sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        _refuse(path, f"has data_offsets {offsets!r}, which are no [begin, end]", name)
    needed, given = math.prod(shape) * _BITS[dtype], 8 * (offsets[1] - offsets[0])
    if needed != given:
        _refuse(path, f"needs {needed} bits for {dtype}{shape}, but its data_offsets give {given}", name)
    return _Entry(name, offsets[0], offsets[1])


def _sizes(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 2**63 for item in value)


def _require_cover(path: Path, entries: list[_Entry], data_bytes: int) -> None:
    at = 0
    for entry in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if entry.end > data_bytes:
            _refuse(path, f"ends at byte {entry.end} of {data_bytes}: the file is truncated", entry.name)
        if entry.begin != at:
            fault = (
                "overlaps the tensor before it" if entry.begin < at else f"leaves a hole of {entry.begin - at} bytes"
            )
            _refuse(path, f"begins at byte {entry.begin} and {fault}", entry.name)
        at = entry.end
    if at != data_bytes:
        _refuse(path, f"has {data_bytes - at} bytes after the last tensor")


def _refuse(path: Path, fault: str, tensor: str | None = None) -> NoReturn:
    subject = f"shard {path}" if tensor is None else f"shard {path}: tensor {tensor!r}"
    raise CheckpointFormatError(f"{subject} {fault}")
