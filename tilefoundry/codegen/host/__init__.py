"""Host entries: argument checks and launches, and the embedding of compiled kernels."""

from tilefoundry.codegen.host.description import describe_module
from tilefoundry.codegen.host.entry import (
    DESCRIPTION_SYMBOL,
    ENTRIES_SYMBOL,
    description_symbol,
    emit_entries,
    emit_host,
)
from tilefoundry.codegen.host.images import cubin_name, emit_images

__all__ = [
    "DESCRIPTION_SYMBOL",
    "ENTRIES_SYMBOL",
    "cubin_name",
    "describe_module",
    "description_symbol",
    "emit_entries",
    "emit_host",
    "emit_images",
]
