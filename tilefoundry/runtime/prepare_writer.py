"""Writes a safetensors checkpoint tensor by tensor, with headers that are known before any tensor is."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import torch

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.types import TensorType
from tilefoundry.runtime.prepare_progress import Progress
from tilefoundry.runtime.torch_dtype import torch_dtype

_INDEX = "model.safetensors.index.json"
_NAMES = {
    "f64": "F64",
    "f32": "F32",
    "f16": "F16",
    "bf16": "BF16",
    "fp8e4m3": "F8_E4M3",
    "fp8e5m2": "F8_E5M2",
    "f8e8m0": "F8_E8M0",
    "i64": "I64",
    "i32": "I32",
    "i16": "I16",
    "i8": "I8",
    "u8": "U8",
    "bool": "BOOL",
}
# How much of a tensor is copied at a time when its memory is not already what the file holds.
_CHUNK_BYTES = 64 << 20


@dataclass(frozen=True)
class Layout:
    """What the file holds of one tensor: the dtype by its safetensors name, the extents, the size in bytes."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, path: str, type_: TensorType) -> Layout:
        """The layout of a declared weight with static extents.

        Raises:
            WrongTypeError: torch has no such dtype.
        """
        shape = tuple(d for d in type_.shape if isinstance(d, int))
        size = math.prod(shape) * torch_dtype(type_.dtype).itemsize
        return cls(path, _NAMES[type_.dtype.name], shape, size)


def plan_shards(layouts: Sequence[Layout], max_bytes: int | None) -> list[list[Layout]]:
    """Divides tensors, in order, among shards of at most `max_bytes` of data; a larger tensor has one of its own.

    Raises:
        WrongTypeError, WrongValueError: `max_bytes` is no positive int.
    """
    if max_bytes is not None and type(max_bytes) is not int:
        raise WrongTypeError(f"max_shard_bytes: expected an int or None, got {max_bytes!r}")
    if max_bytes is not None and max_bytes < 1:
        raise WrongValueError(f"max_shard_bytes: expected at least 1, got {max_bytes}")
    shards: list[list[Layout]] = [[]]
    room = max_bytes
    for layout in layouts:
        if max_bytes is not None and room is not None:
            if layout.size > room and shards[-1]:
                shards.append([])
                room = max_bytes
            room -= layout.size
        shards[-1].append(layout)
    return shards


def write_checkpoint(directory: Path, shards: list[list[Layout]], values: Iterator[torch.Tensor]) -> None:
    """Writes the shards and their index.

    Args:
        values: the tensors, in the order of the layouts, which they fit; each is asked for when the one before it is
            on disk.
    """
    progress = Progress(sum(map(len, shards)), sum(layout.size for shard in shards for layout in shard))
    weight_map: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        with (directory / name).open("xb") as file:
            file.write(_header(shard))
            for layout in shard:
                _write(file, next(values))
                weight_map[layout.path] = name
                progress.advance(layout.size)
            _settle(file)
    total = sum(layout.size for shard in shards for layout in shard)
    with (directory / _INDEX).open("xb") as file:
        index = {"metadata": {"total_size": total}, "weight_map": weight_map}
        file.write(json.dumps(index, indent=2).encode() + b"\n")
        _settle(file)
    progress.close()


def _header(shard: list[Layout]) -> bytes:
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for layout in shard:
        entries[layout.path] = {
            "dtype": layout.dtype,
            "shape": layout.shape,
            "data_offsets": (at, at + layout.size),
        }
        at += layout.size
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the data, and with it a mapped tensor, is aligned
    return len(text).to_bytes(8, "little") + text


def _write(file: BinaryIO, value: torch.Tensor) -> None:
    """Appends the elements in row-major order, whatever the strides and the device of the tensor."""
    if value.numel() == 0:
        return
    rows = value.reshape(1) if value.dim() == 0 else value
    step = rows.shape[0]
    if not rows.is_contiguous() or rows.device.type != "cpu":
        step = max(1, _CHUNK_BYTES * step // (value.numel() * value.element_size()))
    for part in torch.split(rows, step):
        dense = part.to("cpu").resolve_conj().resolve_neg().contiguous()
        file.write(dense.reshape(-1).view(torch.uint8).numpy().data)


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
