"""TileFoundry's public rules."""

load("//tools/kernel:kernel.bzl", _tilefoundry_kernel = "tilefoundry_kernel")

tilefoundry_kernel = _tilefoundry_kernel
