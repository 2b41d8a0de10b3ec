"""Finds out whether a step wrote into a tensor that it was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType

import torch

from tilefoundry.diagnostics import TileFoundryError


class MutatedArgumentError(TileFoundryError, RuntimeError):
    """A step changed a tensor that belongs to its caller."""


class Unchanged:
    """Context in which the given tensors must not be written to.

    It compares torch's version counters, which every in-place operation raises: a few nanoseconds for each tensor. What
    has no counter (tensors made under ``torch.inference_mode``) and what writes past torch is not seen.

    Args:
        what: who runs inside, for the error.
        values: names to values; tensors in nested tuples, lists and mappings count, other values do not.
    """

    def __init__(self, what: str, values: Mapping[str, object]) -> None:
        self._what = what
        self._before = [
            (name, tensor, tensor._version)
            for name, value in values.items()
            for tensor in _tensors(value)
            if not tensor.is_inference()
        ]

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        changed = [name for name, tensor, version in self._before if tensor._version != version]
        if changed and kind is None:
            raise MutatedArgumentError(
                f"{self._what}: {', '.join(dict.fromkeys(changed))} was changed in place",
                remedy="write into a copy and return it: state belongs to the caller",
            )


def _tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _tensors(item)
