"""What every consumer of weights asks for, and what our resources share."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol, Self

from torch import Tensor

from tilefoundry.runtime.resource.alias import Absolute, Preprocessed, Scope
from tilefoundry.runtime.resource.errors import MissingTensorError, ResourceTypeError


class RuntimeResource(Protocol):
    """Named tensors under a scope. A class of one's own with these three methods is one, too."""

    def load(self, name: str) -> Tensor:
        """The tensor of a name. KeyError if there is none, TypeError if the name stands for a group."""
        ...

    def load_group(self, name: str) -> tuple[Tensor, ...] | None:
        """The raw tensors of a one-to-many name in declared order; None for an ordinary name."""
        ...

    def subtree(self, seg: str) -> RuntimeResource:
        """The view of one more path segment."""
        ...


class AliasedResource(ABC):
    """Alias lookup over raw keys; a subclass reads a raw key and makes the view of another scope.

    Args:
        read_keys: the raw keys that were read, which all views share.
    """

    def __init__(self, scope: Scope, read_keys: set[str] | None = None) -> None:
        self._scope = scope
        self._read_keys = set[str]() if read_keys is None else read_keys

    @abstractmethod
    def _read(self, key: str, name: str) -> Tensor:
        """The raw tensor `key`, asked for as `name`. Raises `MissingTensorError`."""

    @abstractmethod
    def _keys(self) -> Iterable[str]:
        """All raw keys."""

    def unread(self) -> tuple[str, ...]:
        """The raw keys that nobody has read so far, through any view, in order."""
        return tuple(sorted(set(self._keys()) - self._read_keys))

    def _noted(self, key: str, name: str) -> Tensor:
        value = self._read(key, name)
        self._read_keys.add(key)
        return value

    @abstractmethod
    def _view(self, scope: Scope) -> Self:
        """The same tensors under another scope."""

    def load(self, name: str) -> Tensor:
        """The tensor of `name`, in the element type that the checkpoint stores.

        Raises:
            MissingTensorError: no such raw key; a KeyError with the name, the raw key and close matches.
            ResourceTypeError: the name stands for a group, or a `Preprocessed.read` gave no tensor of the stored dtype.
        """
        key = self._scope.resolve(name)
        if isinstance(key, tuple):
            raise ResourceTypeError(
                f"load({name!r}): this name stands for a group of {len(key)} tensors", remedy="read it with load_group"
            )
        if not isinstance(key, Preprocessed):
            assert isinstance(key, str)
            return self._noted(key, name)
        raw_key = key.name.name if isinstance(key.name, Absolute) else key.name
        raw = self._noted(raw_key, name)
        value: object = key.read(raw)
        if not isinstance(value, Tensor) or value.dtype != raw.dtype:
            got = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise ResourceTypeError(
                f"load({name!r}): read of {raw_key!r} must give a tensor of the stored {raw.dtype}, got {got}",
                remedy="change the precision in a weight converter",
            )
        return value

    def load_group(self, name: str) -> tuple[Tensor, ...] | None:
        """The raw tensors of a one-to-many alias in declared order, or None where `name` is an ordinary name."""
        keys = self._scope.resolve(name)
        return tuple(self._noted(key, name) for key in keys) if isinstance(keys, tuple) else None

    def subtree(self, seg: str) -> Self:
        """The view of one more path segment, over the same tensors and handles."""
        return self._view(self._scope.child(seg))


def missing(name: str, key: str, known: Iterable[str], where: str) -> MissingTensorError:
    """The error for a raw key that is not there."""
    asked = f"{name!r}" if name == key else f"{name!r} (raw key {key!r})"
    return MissingTensorError(f"no tensor {asked} in {where}{close_matches(key, known)}")


def close_matches(key: str, known: Iterable[str]) -> str:
    """A phrase that lists up to three similar keys; empty when there are none."""
    near = difflib.get_close_matches(key, list(known), n=3)
    return f"; close matches: {', '.join(map(repr, near))}" if near else ""
