"""The machine's C++ compiler over the runtime's headers, as tests drive it."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
_RUNFILES = Path(os.environ.get("RUNFILES_DIR", HERE))


def include_flags() -> list[str]:
    """Include options for the runtime and what it stands on; outside Bazel, TILEFOUNDRY_TEST_INCLUDES lists that."""
    outside = os.environ.get("TILEFOUNDRY_TEST_INCLUDES")
    if outside:
        system = outside.split(":")
    else:
        toolkit = _RUNFILES / "tilefoundry_cuda/include"
        system = [str(_RUNFILES / "tilefoundry_cutlass/include"), str(toolkit), str(toolkit / "cccl")]
    return [f"-I{HERE.parent}", *(flag for path in system for flag in ("-isystem", path))]


def compile_source(source: str | Path, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Compiles one C++ source, a path or the text itself.

    Args:
        source: a path below this folder, or C++ text.
        args: further options; the target macro is among them.
        cwd: folder to compile in.
    Returns:
        the finished compiler with what it wrote.
    """
    command = [os.environ.get("CXX", "c++"), "-Wall", "-Wextra", *include_flags(), *args]
    if isinstance(source, Path):
        command.append(str(source))
        return subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    return subprocess.run([*command, "-x", "c++", "-"], input=source, capture_output=True, text=True, cwd=cwd)
