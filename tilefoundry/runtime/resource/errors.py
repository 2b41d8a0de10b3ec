"""Errors of checkpoints and of the names inside them."""

from __future__ import annotations

from tilefoundry.diagnostics.errors import TileFoundryError


class ResourceError(TileFoundryError):
    """A checkpoint cannot give what was asked of it."""


class ResourceTypeError(ResourceError, TypeError):
    """An alias, a name or a read transform is of the wrong kind for this use."""


class ResourceValueError(ResourceError, ValueError):
    """An alias table cannot be used, or the resource was closed."""


class MissingTensorError(ResourceError, KeyError):
    """No tensor of this name."""


class CheckpointFormatError(ResourceError, ValueError):
    """An index or a shard breaks its file format, or names a file outside its directory."""


class CheckpointNotFoundError(ResourceError, FileNotFoundError):
    """A directory holds no checkpoint, or the index names a shard that is not there."""
