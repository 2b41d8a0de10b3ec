"""TileFoundry's public rules."""

load(
    "//tools/kernel:kernel.bzl",
    _tilefoundry_kernel = "tilefoundry_kernel",
    _tilefoundry_kernel_library = "tilefoundry_kernel_library",
)

tilefoundry_kernel = _tilefoundry_kernel
tilefoundry_kernel_library = _tilefoundry_kernel_library
