"""The CUDA wrapper: two ``__global__`` functions around one body."""

from __future__ import annotations

from tilefoundry.codegen.launch import derive_launch_config as _derive_launch_config

__all__ = ["_derive_launch_config", "wrapper_text"]


def wrapper_text(name: str, block: int) -> str:
    """The kernels ``<name>__vector`` and ``<name>__general``.

    The argument record is a grid constant, so that its address needs no copy in local memory.
    """
    kernel = f"tilefoundry::kernel_{name}"
    return "\n".join(
        f'extern "C" __global__ void __launch_bounds__({block})\n'
        f"{name}__{variant}(const __grid_constant__ {kernel}::Args args) {{\n"
        f"  {kernel}::body<{vector}>(args);\n"
        "}"
        for variant, vector in (("vector", "true"), ("general", "false"))
    )
