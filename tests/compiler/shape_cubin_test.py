"""What the CUDA compiler makes of joined, padded, reversed and repeated values; nothing is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.compiler import kernel_programs, partial_programs, scale_programs, shape_placements, shape_programs
from tilefoundry import normalize_to_module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")


def ptx(tmp_path: Path, module: Any) -> str:
    [text] = compile_ptx(
        emit_module(lower(normalize_to_module(module), TARGET), TARGET), CompilerOptions(), tmp_path
    ).values()
    return text


def test_registers_stay_registers(tmp_path: Path) -> None:
    text = ptx(tmp_path, shape_programs.in_registers("bf16"))
    assert ".entry" in text and ".local" not in text and "bar.sync" not in text


def test_whole_rows_move_16_bytes_at_once(tmp_path: Path) -> None:
    text = ptx(tmp_path, shape_programs.Rows)
    vector = "".join(part.split("__general(")[0] for part in text.split("__vector(")[1:])
    assert re.search(r"ld\.(global\.)?v4\.[bfu]32", vector) and re.search(r"st\.(global\.)?v4\.[bfu]32", vector)


@pytest.mark.parametrize(
    "module",
    [
        shape_programs.in_tiles("fp8e4m3"),
        shape_programs.as_loaded("bool", True),
        shape_programs.straight("i64", 3),
        shape_programs.Starts,
        shape_programs.Loops,
        shape_placements.Tiles,
        shape_placements.Fresh,
        shape_placements.Products,
        shape_placements.Walked,
        kernel_programs.normed,
        partial_programs.terms,
        partial_programs.batched,
        partial_programs.staged,
        scale_programs.Moved,
        scale_programs.Computed,
        scale_programs.Widened,
    ],
    ids=lambda m: m.name,
)
def test_compiles(tmp_path: Path, module: Any) -> None:
    assert ".entry" in ptx(tmp_path, module)


def test_a_named_instruction_is_issued(tmp_path: Path) -> None:
    assert ptx(tmp_path, kernel_programs.by_instruction).count("mma.sync.aligned.m16n8k16") == 2  # in both variants
