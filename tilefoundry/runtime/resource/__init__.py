"""Where weights come from: tensors by name, under scopes, through an alias table (spec 1.5)."""

from tilefoundry.runtime.resource.alias import Absolute, AliasValue, Preprocessed
from tilefoundry.runtime.resource.checkpoint import SafetensorsResource
from tilefoundry.runtime.resource.dictionary import DictResource
from tilefoundry.runtime.resource.errors import (
    CheckpointFormatError,
    CheckpointNotFoundError,
    MissingTensorError,
    ResourceError,
    ResourceTypeError,
    ResourceValueError,
)
from tilefoundry.runtime.resource.protocol import RuntimeResource

__all__ = [
    "Absolute",
    "AliasValue",
    "CheckpointFormatError",
    "CheckpointNotFoundError",
    "DictResource",
    "MissingTensorError",
    "Preprocessed",
    "ResourceError",
    "ResourceTypeError",
    "ResourceValueError",
    "RuntimeResource",
    "SafetensorsResource",
]
