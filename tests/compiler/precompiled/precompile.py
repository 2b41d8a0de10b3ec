"""A compiler driver that finds the headers of others already parsed, for tests that compile many small programs.

    precompile FOLDER

writes into the folder `cxx`, which is the machine's compiler but reads `host.h` or `kernel.h` before a source for the
CPU, and both headers compiled with the options that tests compile with. A compiler that finds a precompiled header made
under other options reads the header itself, so only the time of a test depends on this.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.compiler.precompiled.options import CPU_OPTIONS
from tilefoundry.driver import flags
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.toolchain import find_host
from tilefoundry.target import CpuTarget

_HOST = "#include <tilefoundry/runtime.h>\n"

# The runtime itself is not among them: its names lie in the namespace of a unit.
_KERNEL = "".join(
    f"#include <{name}>\n"
    for name in (
        "cute/tensor_impl.hpp",
        "cute/pointer_swizzle.hpp",
        "cute/algorithm/fill.hpp",
        "algorithm",
        "atomic",
        "cmath",
        "condition_variable",
        "deque",
        "limits",
        "map",
        "memory",
        "mutex",
        "stdexcept",
        "string",
        "system_error",
        "thread",
        "unordered_map",
        "vector",
    )
)

_DRIVER = """\
#!/bin/sh
here=$(dirname "$0")
case " $* " in
  *" -DTILEFOUNDRY_TARGET_CPU=1 "*)
    case " $* " in
      *" -DTILEFOUNDRY_HOST_ENTRY=1 "*) set -- -include "$here/host.h" "$@" ;;
      *) set -- -include "$here/kernel.h" "$@" ;;
    esac
    ;;
esac
exec '{cxx}' "$@"
"""


def main(argv: Sequence[str]) -> None:
    """Writes what is precompiled into the folder that `argv` names."""
    [folder] = map(Path, argv)
    toolchain, target = find_host(), CpuTarget.default()
    [unit] = axpy_module(target).units  # any
    for name, text, command in (
        ("host", _HOST, flags.host_entry(toolchain, target, CPU_OPTIONS, "host.h", "host.h.gch")),
        ("kernel", _KERNEL, flags.cpu_kernel(toolchain, target, CPU_OPTIONS, unit, "kernel.h", "kernel.h.gch")),
    ):
        (folder / f"{name}.h").write_text(text)
        # every kernel defines that macro anew, and none of these headers reads it
        made = [argument for argument in command if not argument.startswith("-DTILEFOUNDRY_UNIT=")]
        subprocess.run([made[0], "-x", "c++-header", *made[1:]], cwd=folder, check=True)
    (folder / "cxx").write_text(_DRIVER.format(cxx=toolchain.cxx))
    (folder / "cxx").chmod(0o755)


if __name__ == "__main__":
    main(sys.argv[1:])
