"""Compares the CUDA kernel libraries of two folders that two host compilers built: equal keys and cubins.

same_kernels FOLDER FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tilefoundry.driver.device_code import cubins_of


def differences(one: Path, two: Path) -> list[str]:
    """What is wrong with two folders of ``<name>.so`` and ``<name>.key``; nothing if they hold the same kernels.

    Libraries that are equal to the byte are wrong, too: one compiler built both.
    """
    names = [sorted(file.stem for file in folder.glob("*.so")) for folder in (one, two)]
    if names[0] != names[1] or not names[0]:
        return [f"the folders hold {names[0]} and {names[1]}"]
    return [f"{name}: {what}" for name in names[0] for what in _differences(one, two, name)]


def _differences(one: Path, two: Path, name: str) -> list[str]:
    keys = [(folder / f"{name}.key").read_text(encoding="utf-8") for folder in (one, two)]
    libraries = [(folder / f"{name}.so").read_bytes() for folder in (one, two)]
    cubins = [list(cubins_of(library)) for library in libraries]
    found = []
    if keys[0] != keys[1] or not keys[0]:
        found.append(f"keys {keys[0].split()} and {keys[1].split()}")
    if not cubins[0]:
        found.append("no cubin")
    if cubins[0] != cubins[1]:
        found.append("cubins differ")
    if libraries[0] == libraries[1]:
        found.append("one compiler built both")
    return found


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    one, two = map(Path, argv)
    found = differences(one, two)
    for line in found:
        print(f"differs: {line}", file=sys.stderr)
    if not found:
        print(f"keys and cubins of {len(list(one.glob('*.so')))} libraries are equal under two compilers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
