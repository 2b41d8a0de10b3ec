"""The CPU wrapper: two functions that run a grid of CTAs on the machine's cores."""

from __future__ import annotations


def wrapper_text(name: str, block: int, grid_barrier: bool) -> str:
    """The functions ``<name>__vector(args, grid)`` and ``<name>__general(args, grid)``.

    Instances of a CTA are fibres where they meet (``kCollective``), and a plain loop where they do not. CTAs that meet
    are all alive at once.
    """
    launch = "launch_resident" if grid_barrier else "launch<kCollective>"
    return "\n".join(
        f'extern "C" void {name}__{variant}(void const* args, int64_t grid) {{\n'
        f"  using namespace tilefoundry::kernel_{name};\n"
        f"  tilefoundry::cpu::{launch}(grid, kThreads, kSharedBytes,\n"
        f"      [&] {{ body<{vector}>(*static_cast<Args const*>(args)); }});\n"
        f"}}"
        for variant, vector in (("vector", "true"), ("general", "false"))
    )
