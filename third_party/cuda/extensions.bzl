"""Fetches the pinned CUDA toolkit, in two parts: a build without kernels needs the runtime's headers only."""

load(":wheels.bzl", "wheels_repository")

def _cuda_impl(_mctx):
    for part in ["cuda_runtime", "cuda_compiler"]:
        wheels_repository(
            name = part,
            build_file = Label("//third_party/cuda:{}.BUILD".format(part)),
            lock = Label("//third_party/cuda:{}.lock".format(part)),
        )

cuda = module_extension(
    doc = "Defines `cuda_runtime` (headers, static runtime) and `cuda_compiler` (nvcc, cicc, ptxas, disassemblers).",
    implementation = _cuda_impl,
)
