"""Host entries: argument checks and launches, and the embedding of compiled kernels."""

from tilefoundry.codegen.host.description import describe_module
from tilefoundry.codegen.host.entry import DESCRIPTION_SYMBOL, emit_host
from tilefoundry.codegen.host.images import cubin_name, emit_images

__all__ = ["DESCRIPTION_SYMBOL", "cubin_name", "describe_module", "emit_host", "emit_images"]
