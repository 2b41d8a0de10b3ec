"""Tensors in memory as a resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from torch import Tensor

from tilefoundry.runtime.resource.alias import AliasValue, Scope, make_scope
from tilefoundry.runtime.resource.errors import ResourceTypeError
from tilefoundry.runtime.resource.protocol import AliasedResource, missing


class DictResource(AliasedResource):
    """A flat mapping from dotted raw keys to tensors: `{"layer0.w": tensor, ...}`.

    Args:
        data: the tensors. Held, not copied.
        prefix: what every name is joined onto; ends in "." unless it is empty.
        alias: from declared names to raw names (`AliasValue`).
    """

    def __init__(
        self, data: Mapping[str, Tensor], prefix: str = "", alias: Mapping[str, AliasValue] | None = None
    ) -> None:
        super().__init__(make_scope(prefix, alias))
        self._data = data

    def _read(self, key: str, name: str) -> Tensor:
        if key not in self._data:
            raise missing(name, key, self._data, "the given tensors")
        value: object = self._data[key]
        if not isinstance(value, Tensor):
            raise ResourceTypeError(f"load({name!r}): {key!r} holds a {type(value).__name__}, not a torch.Tensor")
        return value

    def _keys(self) -> Iterable[str]:
        return self._data

    def _view(self, scope: Scope) -> Self:
        view = type(self).__new__(type(self))
        AliasedResource.__init__(view, scope, self._read_keys)
        view._data = self._data
        return view
