"""The pinned toolkit in the runfiles of a test."""

import os
import subprocess
from pathlib import Path

RUNFILES = Path(os.environ["RUNFILES_DIR"])
TOOLKIT = RUNFILES / "tilefoundry_cuda"


def run(tool: str, *args: str | Path) -> str:
    """Runs a tool of the toolkit in an environment that names nothing but the toolkit.

    Args:
        tool: its name, such as "nvcc".
        args: its arguments.
    Returns:
        What it wrote to standard output.
    Raises:
        AssertionError: it failed; the message holds what it wrote.
    """
    environment = {
        "CICC_PATH": f"{TOOLKIT}/nvvm/bin",
        "LC_ALL": "C",
        "NVVMIR_LIBRARY_DIR": f"{TOOLKIT}/nvvm/libdevice",
        "PATH": f"{TOOLKIT}/bin:/usr/bin:/bin",
        "PWD": "/proc/self/cwd",
    }
    command = [f"{TOOLKIT}/bin/{tool}", *map(str, args)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout
