"""The CUDA wrapper: two ``__global__`` functions around one body."""

from __future__ import annotations

from tilefoundry.codegen.launch import derive_launch_config as _derive_launch_config

__all__ = ["_derive_launch_config", "wrapper_text"]


def wrapper_text(name: str, block: int, min_ctas_per_sm: int | None = None) -> str:
    """The kernels ``<name>__vector`` and ``<name>__general``.

    Args:
        min_ctas_per_sm: CTAs that a multiprocessor shall be able to hold at once; None leaves it to ptxas.

    The argument record is a grid constant, so that its address needs no copy in local memory.
    """
    bounds = f"{block}" if min_ctas_per_sm is None else f"{block}, {min_ctas_per_sm}"
    kernel = f"tilefoundry::kernel_{name}"
    return "\n".join(
        f'extern "C" __global__ void __launch_bounds__({bounds})\n'
        f"{name}__{variant}(const __grid_constant__ {kernel}::Args args) {{\n"
        f"  {kernel}::body<{vector}>(args);\n"
        "}"
        for variant, vector in (("vector", "true"), ("general", "false"))
    )
