"""All generated sources: they include the umbrella alone, and name operations but never how one is carried out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tilefoundry
from examples.attention.program import DTYPES, HEAD_DIMS, attention_module
from tests.compiler import (
    arithmetic_programs,
    attention_op_programs,
    edge_programs,
    empty_programs,
    index_programs,
    kernel_programs,
    partial_programs,
    programs,
    scale_programs,
    shape_programs,
    view_programs,
)
from tilefoundry.codegen.cuda.emit import _derive_launch_config
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.driver.native import generated_sources
from tilefoundry.driver.scale_program import TWICE
from tilefoundry.ir.core import Module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget, CudaTarget, Target

CUDA = CudaTarget("nvidia.h200_sxm")
FILES = (
    programs, arithmetic_programs, view_programs, kernel_programs, edge_programs, empty_programs, partial_programs,
    scale_programs,
)  # fmt: skip
REFUSED = (empty_programs.read_by_number, empty_programs.read_by_index)
_CORE = Path(tilefoundry.__file__).parent / "runtime" / "include" / "tilefoundry" / "runtime" / "core"
_DECLARED = re.compile(r"^TILEFOUNDRY_(?:HOST_)?DEVICE (?:constexpr )?\w+ (\w+)\(", re.MULTILINE)
_OPS = re.compile(r"^namespace ops \{$(.*?)^\}  // namespace ops$", re.MULTILINE | re.DOTALL)
_STARTS = {"cpu::launch", "cpu::launch_resident"}
# Words of which the name of a tier is made: instructions, units and architectures.
_TIER = re.compile(
    r"fma|wgmma|wmma|mma_|_mma|ldmatrix|stmatrix|cp_?async|tma|bulk|simt|scalar|vector|exchange|avx|sm_?\d|cuda|cpu"
)

_SPECIFIED = {"cp_async_commit", "cp_async_wait"}  # the specification's names, of every target's groups of copies


def operations() -> frozenset[str]:
    """What the headers declare in ``tilefoundry::ops``, for every target."""
    texts = (header.read_text() for header in sorted(_CORE.glob("*.h")))
    return frozenset(name for text in texts for body in _OPS.findall(text) for name in _DECLARED.findall(body))


def faults(source: str) -> Iterator[str]:
    """What breaks the rules in one generated C++ source."""
    ours = re.findall(r"^\s*#\s*include\s*([<\"][^>\"]*tilefoundry[^>\"]*[>\"])", source, re.MULTILINE)
    if ours != ["<tilefoundry/runtime.h>"]:
        yield f"includes {ours}, expected the umbrella and once"
    known = operations()
    for name in sorted(set(re.findall(r"\bops::(\w+(?:::\w+)*)", source))):
        if _TIER.search(name) and name not in _SPECIFIED:
            yield f"ops::{name} names a tier"
        elif name not in known:
            yield f"ops::{name} is no operation of the runtime"
    # the wrapper of a CPU kernel starts it; nothing else reaches into a target's own headers
    for name in sorted(set(re.findall(r"\b((?:detail|cuda|cpu|wgmma|SM\d+\w*)::\w+)", source)) - _STARTS):
        yield f"{name} is not of the surface"
    if re.search(r"\basm\b|__\w+_sync\(|__syncthreads", source):
        yield "holds instructions of a machine"


def all_programs() -> dict[str, Module]:
    """Every program of the compiler's tests, with those that take parameters in some sizes."""
    found: dict[str, Module] = {"scale": TWICE}
    for file in FILES:
        for name, value in vars(file).items():
            if isinstance(value, (Module, PrimFunction)) and value not in REFUSED:
                found[f"{file.__name__.rpartition('.')[2]}.{name}"] = normalize_to_module(value)
    for dtype in DTYPES:
        for dim in HEAD_DIMS:
            found[f"attention {dim} {dtype}"] = attention_module(dim, dtype)
        found[f"matmul {dtype}"] = programs.matmul(128, dtype)
        found[f"softmax {dtype}"] = programs.row_softmax(256, dtype)
        found[f"compositions {dtype}"] = arithmetic_programs.compositions(dtype)
    found |= {"swap": programs.swap(3), "row_sums": programs.row_sums(4)}
    found |= {
        "embedding": index_programs.embedding(64, "f16", "i64"),
        "staged": index_programs.staged("f32", "i32"),
        "indexed registers": index_programs.in_registers(0, "f32", "i64"),
        "shapes": shape_programs.in_registers("bf16"),
        "shapes straight": shape_programs.straight("f32"),
        "shapes elsewhere": shape_programs.other_placements("f32"),
        "decode": attention_op_programs.decode("bf16", 16, 2, 64),
    }
    return found


PROGRAMS = all_programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_include_and_no_tier(name: str) -> None:
    declared = PROGRAMS[name].resolve_target() if PROGRAMS[name].declares_target() else CUDA
    targets: list[Target] = [CpuTarget()] if isinstance(declared, CpuTarget) else [CUDA, CpuTarget()]
    for target in targets:
        module = emit_module(lower(PROGRAMS[name], target), target)
        for file, source in generated_sources(module, ["sm_90a"]).items():
            if file != "cubins.S":
                assert not list(faults(source)), f"{file} for {target.name}"


def test_launches_follow_from_the_meshes() -> None:
    for name, grid, block in (("programs.ScaleRows", 64, 1), ("programs.RowMean", 1, 256), ("scale", None, 64)):
        lowered = lower(PROGRAMS[name], CUDA)
        kernel = lowered.entry_function()
        assert isinstance(kernel, PrimFunction)
        config = _derive_launch_config(lowered, kernel)
        assert (config.grid, config.block) == (grid, block)


def test_the_programs_use_most_operations() -> None:
    used: set[str] = set()
    for name in ("scale", "attention 64 bf16", "arithmetic_programs.Unaries", "kernel_programs.mixture"):
        for unit in emit_module(lower(PROGRAMS[name], CUDA), CUDA).units:
            used |= set(re.findall(r"\bops::(\w+)", unit.source))
    assert {"mma", "tile_load", "tile_store", "reduce", "unary", "binary", "cast", "where", "sync"} <= used
    assert used <= operations() and len(PROGRAMS) > 30


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#include <tilefoundry/runtime.h>", "expected the umbrella and once"),
        ("#include <tilefoundry/runtime/core/mma.h>", "expected the umbrella and once"),
        ('  #  include "tilefoundry/runtime/cuda/wgmma.cuh"', "expected the umbrella and once"),
        ("ops::mma_fma(a, b, c);", "ops::mma_fma names a tier"),
        ("ops::wgmma::mma(a, b, c);", "ops::wgmma::mma names a tier"),
        ("ops::cp_async(a, b);", "ops::cp_async names a tier"),
        ("ops::fancy(a, b, c);", "ops::fancy is no operation"),
        ("detail::mma_exchange(a, b, c);", "detail::mma_exchange is not of the surface"),
        ("cute::SM80_16x8x16_F32BF16BF16F32_TN::fma(d);", "is not of the surface"),
        ("cuda::wgmma_commit();", "cuda::wgmma_commit is not of the surface"),
        ('asm volatile("bar.sync 0;");', "holds instructions of a machine"),
        ("__syncthreads();", "holds instructions of a machine"),
    ],
)
def test_what_breaks_the_rules_is_found(line: str, words: str) -> None:
    good = "#include <tilefoundry/runtime.h>\nops::mma(a, b, c);\nops::sync<SyncKind::cta>();\ncpu::launch<true>(x);\n"
    assert not list(faults(good))
    assert any(words in fault for fault in faults(good + line + "\n"))
