"""Asynchronous copies in kernels in TIR: what they move, and what checking mode finds before they have landed."""

from __future__ import annotations

import re

import pytest
import torch

import tilefoundry
from tests.compiler import async_programs as programs
from tests.compiler.running import TARGET, compiled
from tilefoundry import CompileError, CompilerOptions
from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import CheckingError
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.passes import lower
from tilefoundry.python.testing import load_program, marked
from tilefoundry.target import CpuTarget

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e4m3": torch.float8_e4m3fn,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


def numbers(rows: int, columns: int, dtype: str) -> torch.Tensor:
    """Small integers, which every element type holds."""
    values = torch.arange(rows * columns).reshape(rows, columns) * 37 % 101
    return (values % 2 == 0) if dtype == "bool" else (values % 15).to(DTYPES[dtype])


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.view(torch.uint8), b.contiguous().view(torch.uint8))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_blocks_of_every_element_type(dtype: str) -> None:
    a = numbers(16, 80, dtype)
    assert same(compiled(programs.blocks(dtype, 80, 64, 0))(a), a[:, :64])
    a = numbers(128, 5, dtype)
    assert same(compiled(programs.rows(dtype, 5))(a), a)


# (element type, elements from row to row, columns, first column)
@pytest.mark.parametrize(
    ("dtype", "width", "columns", "start"),
    [
        ("bf16", 96, 64, 8),
        ("bf16", 96, 64, 1),
        ("bf16", 96, 64, 6),
        ("bf16", 75, 64, 3),
        ("i8", 160, 128, 16),
        *(("i8", 160, 128, n) for n in (1, 2, 4, 7, 8, 15)),
        ("i8", 133, 24, 5),
        ("f32", 80, 24, 2),
    ],
)
def test_windows_that_start_anywhere(dtype: str, width: int, columns: int, start: int) -> None:
    a = numbers(16, width, dtype)
    kernel = compiled(programs.blocks(dtype, width, columns, start))
    expected = a[:, start : start + columns]
    assert same(kernel(a), expected)
    # an input that itself starts anywhere
    item = a.element_size()
    memory = torch.zeros(a.numel() * item + 64, dtype=torch.uint8)
    for shift in sorted({item, 4 * item, 8}):
        moved = memory[shift : shift + a.numel() * item].view(a.dtype).view(a.shape)
        moved.copy_(a)
        assert same(kernel(moved), expected)


def test_a_whole_parameter() -> None:
    a = numbers(16, 64, "bf16")
    assert same(compiled(programs.whole)(a), a)


def test_a_pipeline_of_two_groups() -> None:
    a = numbers(16, 512, "bf16")
    assert torch.equal(compiled(programs.pipelined)(a), a.float().reshape(16, 8, 64).sum(1))


def test_others_read_behind_a_barrier() -> None:
    a = torch.randn(4, 32)
    assert torch.equal(compiled(programs.flipped)(a), a.flip(0))


def test_the_statements_are_the_runtime_ops() -> None:
    [unit] = emit_module(lower(normalize_to_module(programs.pipelined), CpuTarget()), CpuTarget()).units
    assert re.findall(r"ops::(cp?o?\w*async\w*)(<\d>)?\(", unit.source) == [
        ("copy_async", ""),
        ("cp_async_commit", ""),
        ("copy_async", ""),
        ("cp_async_commit", ""),
        ("cp_async_wait", "<1>"),
    ]


# program: what the finding says
FAULTS = {
    "not_waited_for": r"'not_waited_for': access to a load in flight in copy: instance \(cta 0, thread 0\) reads "
    r"'tile'\(0, 0\), whose asynchronous load has not been waited for",
    "source_written": r"'source_written': access to a load in flight in fill: instance \(cta 0, thread 0\) writes "
    r"'o'\(0, 0\), which an asynchronous load reads that has not been waited for",
    "no_barrier": r"uninitialised read in copy: instance \(cta 0, thread 0\) reads 'tile'\(3, 0\), which nobody has "
    "written before it; without a barrier, others write later",
}


@pytest.mark.skipif(TARGET != "cpu", reason="checking mode is of the CPU")
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_is_found_and_named(name: str) -> None:
    kernel = tilefoundry.jit(getattr(programs, name), target="cpu", options=CompilerOptions(checking=True))
    with pytest.raises(CheckingError, match=FAULTS[name]):
        kernel(torch.arange(128.0).reshape(4, 32))


@pytest.mark.skipif(TARGET != "cpu", reason="checking mode is of the CPU")
@pytest.mark.parametrize("name", ["whole", "pipelined", "flipped"])
def test_what_waits_reports_nothing(name: str) -> None:
    program = getattr(programs, name)
    kernel = tilefoundry.jit(program, target="cpu", options=CompilerOptions(checking=True))
    a = torch.ones(*(int(extent) for extent in program.params[0].type.shape)).to(
        torch.float32 if name == "flipped" else torch.bfloat16
    )
    assert torch.equal(kernel(a), compiled(program)(a))


HEAD = (
    '@prim_func\ndef k(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):\n'
    '    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:\n'
    '        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])\n'
    "        mine = T.tensor_view(a, layout=(4 @ m.w, 32 @ m.l))\n"
)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("§T.copy_async(a, tile)", "T.copy_async between two whole tensors"),
        ("§T.copy_async(mine, tile)", "T.copy_async between a part and the whole tile 'tile'"),
        ("§T.copy(mine, tile)", "T.copy between a part and the whole tile 'tile'"),
        ("§T.copy(tile, mine)", "T.copy between a part and the whole tile 'tile'"),
    ],
)
def test_a_copy_without_owners_is_refused_at_its_place(statement: str, words: str) -> None:
    source, place = marked(f"{HEAD}        {statement}\n")
    module = normalize_to_module(load_program(source)["k"])  # type: ignore[arg-type]  # a kernel
    with pytest.raises(CompileError, match=words) as caught:
        emit_module(lower(module, CpuTarget()), CpuTarget())
    error = caught.value
    assert error.span is not None and (error.span.line, error.span.column) == place and error.remedy
