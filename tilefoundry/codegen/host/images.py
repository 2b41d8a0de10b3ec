"""The assembler source that embeds compiled kernels into the host library."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tilefoundry.codegen.unit import KernelUnit, distinct
from tilefoundry.diagnostics import CompileError


def cubin_name(unit: KernelUnit, arch: str) -> str:
    """File name of a unit's cubin for one architecture, as `emit_images` includes it."""
    return f"{unit.name}.{arch}.cubin"


def emit_images(units: Sequence[KernelUnit], archs: Sequence[str]) -> str:
    """Assembler text with each unit's table of ``host::Cubin`` records and its count.

    Cubins are included from the folder that the assembler runs in, by `cubin_name`.

    Raises:
        CompileError: an architecture is not of the form ``sm_90`` or ``sm_90a``.
    """
    lines: list[str] = []
    for unit in distinct(units):
        records: list[str] = []
        for n, arch in enumerate(archs):
            match = re.fullmatch(r"sm_(\d+)(\d)(a|f)?", arch)
            if match is None:
                raise CompileError(f"unknown CUDA architecture {arch!r}, expected one like 'sm_80' or 'sm_90a'")
            image, name = f".L{unit.name}_image{n}", f".L{unit.name}_arch{n}"
            lines += [
                ".section .rodata",
                ".balign 64",
                f'{image}: .incbin "{cubin_name(unit, arch)}"',
                f'{name}: .asciz "{arch}"',
            ]
            records += [
                f"  .quad {image}, {name}",
                f"  .long {match[1]}, {match[2]}, {int(match[3] is not None)}, 0",
            ]
        table, count = f"{unit.name}__cubins", f"{unit.name}__cubin_count"
        lines += [
            '.section .data.rel.ro, "aw"',
            ".balign 8",
            f".globl {table}",
            f".hidden {table}",
            f"{table}:",
            *records,
            ".section .rodata",
            ".balign 4",
            f".globl {count}",
            f".hidden {count}",
            f"{count}: .long {len(archs)}",
        ]
    return "\n".join([*lines, '.section .note.GNU-stack, "", %progbits', ""])
