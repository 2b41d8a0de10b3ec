"""What the CUDA compiler makes of reads and writes at run-time indices; nothing is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compiler import index_programs as programs
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")


def ptx(tmp_path: Path, module: Module) -> str:
    [text] = compile_ptx(emit_module(lower(module, TARGET), TARGET), CompilerOptions(), tmp_path).values()
    return text


def test_rows_of_a_table_move_16_bytes_at_once(tmp_path: Path) -> None:
    text = ptx(tmp_path, programs.embedding(256, "f16", "i64"))
    vector = text[text.index("embedding__vector(") :].split("embedding__general(")[0]
    assert re.search(r"\bld\.\S*v4\.[bu]32", vector) and re.search(r"\bst\.\S*v4\.[bu]32", vector)


@pytest.mark.parametrize(
    "module",
    [
        programs.staged("bf16", "i64"),
        programs.in_registers(1, "f16", "i32"),
        programs.whole_reads("f32", "i64"),
        programs.whole_updates("bf16", "i64"),
        programs.fragments("i32", "i32"),
        programs.cache("bf16"),
        programs.HeldCache,
    ],
    ids=lambda m: m.name,
)
def test_everything_compiles_and_an_index_out_of_range_traps(tmp_path: Path, module: Module) -> None:
    text = ptx(tmp_path, module)
    assert ".entry" in text and "trap;" in text
