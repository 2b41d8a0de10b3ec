"""Host entries: argument checks and launches, and the embedding of compiled kernels."""

from tilefoundry.codegen.host.entry import DESCRIPTION_SYMBOL, emit_host, launches_of
from tilefoundry.codegen.host.images import cubin_name, emit_images

__all__ = ["DESCRIPTION_SYMBOL", "cubin_name", "emit_host", "emit_images", "launches_of"]
