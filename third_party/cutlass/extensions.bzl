"""Fetches CUTLASS."""

load("//third_party/cuda:wheels.bzl", "wheels_repository")

def _cutlass_impl(_mctx):
    wheels_repository(
        name = "cutlass",
        build_file = Label("//third_party/cutlass:cutlass.BUILD"),
        lock = Label("//third_party/cutlass:cutlass.lock"),
    )

cutlass = module_extension(
    doc = "Defines the repository `cutlass`.",
    implementation = _cutlass_impl,
)
