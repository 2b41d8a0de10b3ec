"""The keys of the bundle's libraries, computed once more by the Python of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from examples.native.program import KERNELS
from tilefoundry import CompilerOptions, normalize_to_module
from tilefoundry.driver.keys import module_key
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget
from tools.device_bundle import programs


@dataclass(frozen=True)
class Keys:
    """How many keys a library's file holds, and those lines that another key was computed for."""

    library: str
    count: int
    differing: tuple[str, ...]


def judge_keys(folder: Path) -> list[Keys]:
    """Compares every ``*.key`` file of a folder with what `jit` would compute here.

    Raises:
        FileNotFoundError: there is none.
    """
    files = sorted(folder.glob("*.key"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no keys")
    return [_judge(file) for file in files]


def _judge(file: Path) -> Keys:
    lines = file.read_text(encoding="utf-8").splitlines()
    return Keys(file.stem, len(lines), tuple(line for line in lines if not _is_right(file.stem, *line.split())))


def _is_right(library: str, *fields: str) -> bool:
    *entry, arch, key = fields
    return module_key(_program(library, *entry), CudaTarget("nvidia.h200_sxm", arch=arch), CompilerOptions()) == key


def _program(library: str, entry: str = "") -> Module:
    return KERNELS[entry] if entry else normalize_to_module(getattr(programs, library))
