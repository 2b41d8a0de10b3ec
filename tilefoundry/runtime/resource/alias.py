"""How a declared name becomes a raw checkpoint key.

An alias table maps one path segment or leaf to the checkpoint's own. A name is looked up with the prefix of its scope
first, then bare (which serves every scope at once), and is itself otherwise; the value is joined onto the prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from tilefoundry.runtime.resource.errors import ResourceTypeError, ResourceValueError


@dataclass(frozen=True)
class Absolute:
    """A whole raw key: no prefix is joined onto it, so a scope can reach a tensor that it does not own."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ResourceTypeError(f"Absolute: the name must be a str, got {self.name!r}")


@dataclass(frozen=True)
class Preprocessed:
    """One raw tensor that the checkpoint stores in another form: `read` transposes it, slices it or drops an axis.

    Args:
        name: the raw name, joined onto the prefix unless it is `Absolute`.
        read: from the stored tensor to the declared one, of the same dtype.

    Raises:
        ResourceTypeError: `name` is no single name (several tensors take a weight converter), or `read` no callable.
    """

    name: str | Absolute
    read: Callable[[Tensor], Tensor]

    def __post_init__(self) -> None:
        if not isinstance(self.name, (str, Absolute)):
            raise ResourceTypeError(
                f"Preprocessed: the name must be one str or Absolute, got {self.name!r}",
                remedy="combine several raw tensors in a weight converter",
            )
        if not callable(self.read):
            raise ResourceTypeError(f"Preprocessed: read must be callable, got {self.read!r}")


AliasValue = str | tuple[str, ...] | Absolute | Preprocessed


@dataclass(frozen=True)
class Scope:
    """A prefix and the alias table that names inside it go through."""

    prefix: str
    alias: Mapping[str, AliasValue]

    def resolve(self, name: str) -> AliasValue:
        """The raw key of a name: a str, several, or a `Preprocessed` whose `name` is the whole key."""
        value = self._lookup(name)
        if isinstance(value, tuple):
            return tuple(self.prefix + member for member in value)
        if isinstance(value, Preprocessed):
            return replace(value, name=self._key(value.name))
        return self._key(value)

    def child(self, segment: str) -> Scope:
        """The scope of one more path segment. An alias "" says that the checkpoint lacks this level."""
        value = self._lookup(segment)
        if not isinstance(value, str):
            kind = "a group of names" if isinstance(value, tuple) else type(value).__name__
            raise ResourceTypeError(
                f"subtree({segment!r}): its alias is {kind}, but a segment must be a path, not a tensor"
            )
        return replace(self, prefix=f"{self.prefix}{value}." if value else self.prefix)

    def _lookup(self, name: str) -> AliasValue:
        return self.alias.get(self.prefix + name, self.alias.get(name, name))

    def _key(self, name: str | Absolute) -> str:
        return name.name if isinstance(name, Absolute) else self.prefix + name


def make_scope(prefix: str, alias: Mapping[str, AliasValue] | None) -> Scope:
    """A resource's outermost scope; the table is copied and checked once.

    Raises:
        ResourceTypeError: the prefix or a key is no str, or a value is none of `AliasValue`.
        ResourceValueError: a group is empty.
    """
    if not isinstance(prefix, str):
        raise ResourceTypeError(f"prefix: expected a str, got {prefix!r}")
    table = dict(alias or {})
    for key, value in table.items():
        if not isinstance(key, str):
            raise ResourceTypeError(f"alias: expected str keys, got {key!r}")
        if isinstance(value, tuple):
            if not value:
                raise ResourceValueError(f"alias[{key!r}]: a group needs at least one name")
            if not all(isinstance(member, str) for member in value):
                raise ResourceTypeError(f"alias[{key!r}]: the members of a group must be str, got {value!r}")
        elif not isinstance(value, (str, Absolute, Preprocessed)):
            raise ResourceTypeError(
                f"alias[{key!r}]: expected a str, a tuple of str, Absolute or Preprocessed, got {value!r}"
            )
    return Scope(prefix, table)
