"""A safetensors checkpoint directory as a resource."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from tilefoundry.runtime.resource.alias import AliasValue, Scope, make_scope
from tilefoundry.runtime.resource.errors import (
    CheckpointFormatError,
    CheckpointNotFoundError,
    MissingTensorError,
    ResourceValueError,
)
from tilefoundry.runtime.resource.header import read_header
from tilefoundry.runtime.resource.index import read_index
from tilefoundry.runtime.resource.protocol import AliasedResource, close_matches, missing


class SafetensorsResource(AliasedResource):
    """A directory with `model.safetensors.index.json` and its shards, or with one `model.safetensors`.

    The index is read once, each shard is mapped once, on first use, by all `subtree` views together; on the CPU a
    tensor is a view of the mapped file. `close()`, or leaving a `with` block, releases the files; tensors that were
    read stay valid.

    Args:
        ckpt_dir: the directory.
        prefix: what every name is joined onto; ends in "." unless it is empty.
        device: where tensors are placed. "cuda" is the device that is current at each read.
        alias: from declared names to raw names (`AliasValue`).

    Raises:
        CheckpointNotFoundError: the directory holds no checkpoint (a FileNotFoundError).
        CheckpointFormatError: the index is malformed or names a file outside the directory (a ValueError).
    """

    def __init__(
        self,
        ckpt_dir: str | os.PathLike[str],
        prefix: str = "",
        device: str | torch.device = "cuda",
        alias: Mapping[str, AliasValue] | None = None,
    ) -> None:
        super().__init__(make_scope(prefix, alias))
        self._device = torch.device(device)
        self._checkpoint = _Checkpoint(Path(ckpt_dir))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the files. Later reads, through any view, are refused."""
        self._checkpoint.close()

    def verify(self) -> None:
        """Open every shard and hold it against the index, in both directions.

        Raises:
            MissingTensorError: lists all tensors that the index promises and no shard holds, and the reverse.
        """
        self._checkpoint.verify()

    def _read(self, key: str, name: str) -> Tensor:
        # An index-less "cuda" resolves here, at each read.
        return self._checkpoint.read(key, name).to(self._device)

    def _keys(self) -> Iterable[str]:
        return self._checkpoint.keys()

    def _view(self, scope: Scope) -> Self:
        view = type(self).__new__(type(self))
        AliasedResource.__init__(view, scope, self._read_keys)
        view._device, view._checkpoint = self._device, self._checkpoint
        return view


class _Shard(Protocol):
    def get_tensor(self, name: str) -> Tensor: ...


class _Checkpoint:
    """The index and the open shards, shared by all views."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = read_index(directory)
        self._by_shard: dict[str, set[str]] = {}
        for key, shard in self._index.weight_map.items():
            self._by_shard.setdefault(shard, set()).add(key)
        self._open: dict[str, tuple[_Shard, frozenset[str]]] = {}
        self._files = ExitStack()
        self._closed = False
        self._lock = threading.Lock()

    def keys(self) -> Iterable[str]:
        return self._index.weight_map

    def read(self, key: str, name: str) -> Tensor:
        shard = self._index.weight_map.get(key)
        if shard is None:
            raise missing(name, key, self._index.weight_map, str(self._index.source))
        handle, held = self._shard(shard)
        if key not in held:
            raise MissingTensorError(
                f"index {self._index.source} promises tensor {key!r} in shard {self._directory / shard}, which does "
                f"not hold it{close_matches(key, held)}"
            )
        try:
            return handle.get_tensor(key)
        except SafetensorError as error:
            raise CheckpointFormatError(f"shard {self._directory / shard}: tensor {key!r}: {error}") from error

    def verify(self) -> None:
        promised, unlisted = [], []
        for shard, keys in self._by_shard.items():
            held = self._shard(shard)[1]
            promised += [f"{key!r} (in {shard})" for key in sorted(keys - held)]
            unlisted += [f"{key!r} (in {shard})" for key in sorted(held - keys)]
        if promised or unlisted:
            faults = []
            if promised:
                faults.append(f"promised but not held: {', '.join(promised)}")
            if unlisted:
                faults.append(f"held but not in the index: {', '.join(unlisted)}")
            raise MissingTensorError(f"index {self._index.source} and its shards disagree: {'; '.join(faults)}")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._open.clear()
            self._files.close()

    def _shard(self, shard: str) -> tuple[_Shard, frozenset[str]]:
        with self._lock:
            if self._closed:
                raise ResourceValueError(f"the resource of {self._directory} is closed")
            if shard not in self._open:
                self._open[shard] = self._open_shard(shard)
            return self._open[shard]

    def _open_shard(self, shard: str) -> tuple[_Shard, frozenset[str]]:
        path = self._directory / shard
        try:
            there = path.is_file()
        except OSError as error:  # a name that no file can have
            raise CheckpointFormatError(
                f"index {self._index.source} names a shard that cannot be there: {error.strerror}: {shard[:80]!r}"
            ) from error
        if not there:
            raise CheckpointNotFoundError(f"index {self._index.source} names shard {path}, which is not there")
        held = read_header(path)
        if extra := sorted(held - self._by_shard[shard]):
            listed = ", ".join(map(repr, extra[:5])) + (f" and {len(extra) - 5} more" if len(extra) > 5 else "")
            warnings.warn(f"shard {path} holds tensors that index {self._index.source} omits: {listed}", stacklevel=6)
        try:
            return self._files.enter_context(safe_open(path, framework="pt", device="cpu")), held
        except SafetensorError as error:
            raise CheckpointFormatError(f"shard {path}: {error}") from error
