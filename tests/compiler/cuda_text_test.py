"""What the CUDA compiler makes of the generated attention kernels; nothing is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.attention.program import DTYPES, HEAD_DIMS, attention_module
from tests.compiler import arithmetic_programs as programs
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import build_library, compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
TENSOR_CORE = re.compile(r"\b(mma\.sync|wgmma\.mma_async)\S*\.(f16|bf16)\b")


def ptx(tmp_path: Path, dim: int, dtype: str) -> str:
    module = emit_module(lower(attention_module(dim, dtype), TARGET), TARGET)
    return compile_ptx(module, CompilerOptions(), tmp_path)["attention"]


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("dim", HEAD_DIMS)
def test_products_of_16_bit_floats_use_warpgroup_instructions(tmp_path: Path, dim: int, dtype: str) -> None:
    text = ptx(tmp_path, dim, dtype)
    found = {(match.group(1), match.group(2)) for match in TENSOR_CORE.finditer(text)}
    assert found == {("wgmma.mma_async", dtype)}
    assert "cp.async" in text and "ldmatrix" not in text
    # The softmax's weights are multiplied from registers: four of them and one descriptor.
    assert re.search(r"wgmma\.mma_async\S+\s+\{[^}]*\},\s*\{%r\d+,\s*%r\d+,\s*%r\d+,\s*%r\d+\},\s*%rd\d+", text)


def test_products_of_f32_are_exact_fused_multiply_adds(tmp_path: Path) -> None:
    text = ptx(tmp_path, 32, "f32")
    assert "fma.rn.f32" in text and not re.search(r"mma\.sync|wgmma", text)


@pytest.mark.parametrize("module", [programs.Unaries, programs.Reductions], ids=lambda m: m.name)
def test_all_kinds_of_ops_compile(tmp_path: Path, module: Module) -> None:
    [text] = compile_ptx(emit_module(lower(module, TARGET), TARGET), CompilerOptions(), tmp_path).values()
    assert ".entry" in text


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_library_holds_cubins_of_both_architectures(tmp_path: Path, dtype: str) -> None:
    module = emit_module(lower(attention_module(32, dtype), TARGET), TARGET)
    archs = ("sm_80", "sm_90a")
    library, sources = build_library(module, CompilerOptions(), tmp_path, "attention.so", archs)
    content = library.read_bytes()
    for arch in archs:
        [cubin] = tmp_path.glob(f"*{arch}*.cubin")
        assert cubin.read_bytes()[:4] == b"\x7fELF" and cubin.read_bytes() in content
    assert any(name.endswith(".cu") for name in sources)
