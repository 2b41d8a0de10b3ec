"""Every op of the catalogue compiles for both targets where no mesh is named, and agrees with the evaluator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.compiler import catalogue_programs
from tests.compiler.catalogue_programs import cases
from tests.compiler.running import compare
from tilefoundry import normalize_to_module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.ir.core import op_names
from tilefoundry.passes import lower
from tilefoundry.runtime import AllClose
from tilefoundry.target import CpuTarget, CudaTarget

CUDA = CudaTarget("nvidia.h200_sxm")
TORCH = {"f32": torch.float32, "i64": torch.int64, "i32": torch.int32}
WRITTEN_WITHOUT_THEIR_NAME = {"slice", "tuple_get_item"}  # x[a:b], p[k]
# Ops of an author's own placement; coordinates_test, local_test, mma_op_test and all programs with meshes have them.
PLACED = {"reshard", "local", "mesh_coordinate", "mma_sm80_16x8x16", "wgmma_sm90_64x128x16"}
PROGRAMS = sorted(cases("f32"))


def test_every_op_is_here() -> None:
    text = Path(catalogue_programs.__file__).read_text(encoding="utf-8")
    assert set(op_names("tf")) - set(re.findall(r"\btf\.(\w+)\(", text)) == PLACED | WRITTEN_WITHOUT_THEIR_NAME


@pytest.mark.parametrize("target", [CpuTarget(), CUDA], ids=lambda t: t.name)
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_has_code_for_both_targets(name: str, dtype: str, target: CpuTarget | CudaTarget) -> None:
    program, _ = cases(dtype)[name]
    assert emit_module(lower(normalize_to_module(program), target), target).units


def sample(shape: tuple[int, ...], dtype: str, k: int) -> torch.Tensor:
    """Numbers of which an even argument has positive ones, and no function here is steep at any; small indices."""
    generator = torch.Generator().manual_seed(k)
    if dtype == "bool":
        return torch.rand(shape, generator=generator) > 0.5
    if dtype in ("i32", "i64"):
        return torch.randint(1, 5, shape, generator=generator, dtype=TORCH[dtype])
    x = torch.rand(shape, generator=generator) + 0.5
    return (x if k % 2 == 0 else x * 2 - 2).to(TORCH[dtype])


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_agrees_with_the_evaluator(name: str) -> None:
    program, arguments = cases("f32")[name]
    inputs = [sample(shape, kind, k) for k, (shape, kind) in enumerate(arguments)]
    compare(normalize_to_module(program), *inputs, bounds=[AllClose(1e-5, 1e-5)])
