"""A compiler driver that finds the headers of others already parsed, for tests that compile many small programs.

    precompile FOLDER

writes into the folder `cxx`, which is the machine's compiler but reads `host.h` or `kernel.h` before a source that is
compiled for the CPU with the options of tests, and both headers compiled with these. It does not optimise host sources,
which hold no loop. Only the time of a test depends on this.
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

# The last option that tells a command from others: what follows are definitions and folders.
_ENTRY, _CPU = "-DTILEFOUNDRY_HOST_ENTRY=1", "-DTILEFOUNDRY_TARGET_CPU=1"

_HOST = "#include <tilefoundry/runtime.h>\n"
_HOST_MORE = ["-O0"]  # half of the compiler's time

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

# gcc takes what was precompiled under another -O as well, and may crash then: the whole command has to be the same.
_DRIVER = """\
#!/bin/sh
here=$(dirname "$0")
case "$* " in
  '{host} '*) set -- -include "$here/host.h" "$@" {host_more} ;;
  '{kernel} '*) set -- -include "$here/kernel.h" "$@" ;;
esac
exec '{cxx}' "$@"
"""


def main(argv: Sequence[str]) -> None:
    """Writes what is precompiled into the folder that `argv` names."""
    [folder] = map(Path, argv)
    toolchain, target = find_host(), CpuTarget.default()
    [unit] = axpy_module(target).units  # any
    options: dict[str, str] = {}
    host = flags.host_entry(toolchain, target, CPU_OPTIONS, "host.h", "host.h.gch")
    kernel = flags.cpu_kernel(toolchain, target, CPU_OPTIONS, unit, "kernel.h", "kernel.h.gch")
    for name, text, command, last, more in (
        ("host", _HOST, host, _ENTRY, _HOST_MORE),
        ("kernel", _KERNEL, kernel, _CPU, []),
    ):
        (folder / f"{name}.h").write_text(text)
        # every kernel defines that macro anew, and none of these headers reads it
        made = [argument for argument in command if not argument.startswith("-DTILEFOUNDRY_UNIT=")]
        subprocess.run([made[0], "-x", "c++-header", *made[1:], *more], cwd=folder, check=True)
        options[name] = " ".join(made[1 : made.index(last) + 1])
    (folder / "cxx").write_text(_DRIVER.format(cxx=toolchain.cxx, host_more=" ".join(_HOST_MORE), **options))
    (folder / "cxx").chmod(0o755)


if __name__ == "__main__":
    main(sys.argv[1:])
