"""Which copies of kernels in TIR are cp.async on a GPU: the widest that is proven to be aligned, and else none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compiler import async_programs as programs
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
_COPY = re.compile(r"cp\.async\.c[ag]\.shared\.global \[%\w+\], \[%\w+\], (\d+)")


def variants(tmp_path: Path, program: PrimFunction, arch: str) -> dict[str, str]:
    """The PTX of a kernel for arguments that are promised to be aligned, and for any."""
    module = emit_module(lower(normalize_to_module(program), TARGET), TARGET)
    [text] = compile_ptx(module, CompilerOptions(), tmp_path, arch).values()
    entries = re.split(r"\.visible \.entry \w+__(\w+)\(", text)[1:]
    return dict(zip(entries[::2], entries[1::2], strict=True))


def sizes(text: str) -> list[int]:
    """Bytes of each cp.async."""
    return [int(size) for size in _COPY.findall(text)]


# (element type, elements from row to row, columns, first column): the cp.async of a unit's part
WINDOWS = {
    ("bf16", 96, 64, 0): [16],
    ("bf16", 96, 64, 8): [16],
    ("bf16", 96, 64, 4): [8, 8],
    ("bf16", 96, 64, 6): [4, 4, 4, 4],
    ("bf16", 96, 64, 1): [],
    ("i8", 160, 128, 16): [16],
    ("i8", 160, 128, 8): [8, 8],
    ("i8", 160, 128, 4): [4, 4, 4, 4],
    ("i8", 160, 128, 2): [],
    ("i8", 160, 128, 15): [],
    ("f32", 80, 32, 0): [16],
    ("f32", 80, 32, 2): [8, 8],
    ("f64", 80, 16, 0): [16],
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("window", [("bf16", 96, 64, 0), ("bf16", 96, 64, 1)], ids=str)
def test_every_architecture_that_has_them(tmp_path: Path, window: tuple[str, int, int, int], arch: str) -> None:
    found = variants(tmp_path, programs.blocks(*window), arch)
    assert sizes(found["vector"]) == WINDOWS[window] and sizes(found["general"]) == []
    assert all("cp.async.commit_group" in text and "cp.async.wait_group" in text for text in found.values())


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_the_widest_that_is_proven(tmp_path: Path, window: tuple[str, int, int, int]) -> None:
    found = variants(tmp_path, programs.blocks(*window), "sm_90a")
    assert sizes(found["vector"]) == WINDOWS[window]
    # Nothing is known of arguments that start anywhere, but that their elements are aligned.
    item = {"f64": 8, "f32": 4}.get(window[0], 0)
    count = window[2] // 8 if item else 0
    assert sizes(found["general"]) == [item] * count
    if not item:
        assert "cp.async.cg" not in found["general"] and re.search(r"\bld\.global", found["general"])


def test_rows_of_an_odd_length_are_loaded_and_stored(tmp_path: Path) -> None:
    for text in variants(tmp_path, programs.rows("bf16", 7), "sm_90a").values():
        assert not sizes(text) and len(re.findall(r"\bld\.global\S*\.[bu]16", text)) >= 7


def test_whole_parameters_and_tiles_by_number(tmp_path: Path) -> None:
    found = variants(tmp_path, programs.whole, "sm_90a")
    assert sizes(found["vector"]) == [16] and sizes(found["general"]) == []
    # Loop variables and coordinates are known by what divides them.
    found = variants(tmp_path, programs.pipelined, "sm_90a")
    assert set(sizes(found["vector"])) == {16} and sizes(found["general"]) == []
