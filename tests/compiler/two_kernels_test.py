"""One library with two kernels of different block size.

Both stage the same tile from the same tensor type, so the cooperative load is one and the same template instance, and
it depends on the block size. Only the namespace of each unit keeps the linker from merging the two.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.compiler import programs
from tilefoundry.codegen.emit import emit_module
from tilefoundry.codegen.host import emit_host
from tilefoundry.codegen.unit import KernelUnit, LinkableModule
from tilefoundry.driver.native import build_library
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.passes import lower
from tilefoundry.runtime.abi import EntryABI
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CpuTarget, CudaTarget, Target

CUDA = CudaTarget("nvidia.h200_sxm")


def unit(warps: int, name: str, target: Target) -> KernelUnit:
    [emitted] = emit_module(lower(programs.row_sums(warps), target), target).units
    x, out = emitted.abi.params
    source = emitted.source.replace("sums", name)
    return replace(emitted, name=name, source=source, abi=EntryABI(name, (x, replace(out, name=name + "_out")), 1))


def library(target: Target, level: int, work: Path) -> Path:
    units = (unit(2, "narrow", target), unit(8, "wide", target))
    entry = EntryABI("both", (units[0].abi.params[0], *(u.abi.params[1] for u in units)), 2)
    linkable = LinkableModule(target, units, emit_host(units, target, entry), entry)
    return build_library(linkable, CompilerOptions(optimization_level=level), work, "both.so")[0]


@pytest.mark.parametrize("level", [0, 2])
def test_both_are_right_on_the_cpu(tmp_path: Path, level: int) -> None:
    both = load_linked_module(read_artifact(library(CpuTarget(), level, tmp_path)))
    for rows in (1, 4, 9):
        x = torch.randint(-99, 99, (rows, 512)).float()
        narrow, wide = (torch.full((rows, 1), float("nan")) for _ in range(2))
        both(x, narrow, wide)
        assert torch.equal(narrow, x.sum(1, keepdim=True)), f"narrow at {rows} rows"
        assert torch.equal(wide, x.sum(1, keepdim=True)), f"wide at {rows} rows"


@pytest.mark.parametrize("level", [0, 2])
def test_both_build_for_cuda(tmp_path: Path, level: int) -> None:
    content = library(CUDA, level, tmp_path).read_bytes()
    assert b"narrow__vector" in content and b"wide__vector" in content
