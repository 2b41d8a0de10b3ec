"""Placed programs, compiled (for the CPU with the placement that they have for a GPU), against the evaluator in f64."""

from __future__ import annotations

import re

import pytest
import torch

import tilefoundry
from tests.compiler import programs
from tests.compiler.running import compare, compiled, needs_cpu
from tilefoundry.codegen.emit import emit_module
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.runtime import Equal, RelL2, Ulp
from tilefoundry.target import CpuTarget, CudaTarget

TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def test_scale_rows_is_exact() -> None:
    compare(programs.ScaleRows, torch.randn(64, 256), bounds=[Equal()])


def test_row_mean_over_warps() -> None:
    compare(programs.RowMean, torch.randint(-1000, 1000, (1, 2048)).float(), bounds=[Equal()])


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("columns", [32, 96, 1024])
def test_row_softmax(columns: int, dtype: str) -> None:
    module = programs.row_softmax(columns, dtype)
    # f32: x - max is at most 8 here, rounded by up to 2**-22: 4 ulp of exp. The other dtypes round the f32 result once.
    bound = Ulp(max=12 if dtype == "f32" else 1)
    for rows in (1, 4, 5, 33):
        compare(module, torch.randn(rows, columns).clamp(-4, 4).to(TORCH[dtype]), bounds=[bound])


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("k", [1, 16, 40])
def test_matmul(k: int, dtype: str) -> None:
    module = programs.matmul(k, dtype)
    # f16 and bf16: the f32 sum is rounded once, as the reference is; they differ where the sum lies near a tie
    bound = RelL2(max=1e-6 if dtype == "f32" else 5e-5 if dtype == "f16" else 4e-4)
    for m in (1, 32, 70):
        a, b = torch.randn(m, k).to(TORCH[dtype]), torch.randn(k, 96).to(TORCH[dtype])
        compare(module, a, b, bounds=[bound])


def test_two_outputs_of_one_loop() -> None:
    kernel = compiled(programs.TwoOutputs)
    for rows in (1, 7):
        x, w = torch.randint(-9, 9, (rows, 128)).float(), torch.randint(-9, 9, (128,)).float()
        y, z = kernel(x, 2.0, w)
        assert torch.equal(y, 2 * x * w) and torch.equal(z, (2 * x * w).sum(1, keepdim=True))


def test_loops_fill_results_and_carry_registers() -> None:
    compare(programs.SumsSoFar, torch.randint(-9, 9, (4, 8, 64)).float(), bounds=[Equal()])


@needs_cpu
def test_division_by_zero_is_reported_with_its_place() -> None:
    kernel = compiled(programs.Quotients)
    x, y = torch.arange(64, dtype=torch.int32), torch.ones(64, dtype=torch.int32)
    assert torch.equal(kernel(x, y), x)
    y[5] = 0
    with pytest.raises(tilefoundry.TileFoundryError, match=r"kernel 'quotients'.*division by zero"):
        kernel(x, y)
    y[5] = 1
    assert torch.equal(kernel(x, y), x)


def test_two_axes_of_a_grid() -> None:
    for rows, columns in ((1, 1), (19, 21), (64, 48)):
        x = torch.randn(rows, columns).half()
        assert torch.equal(compiled(programs.Grid)(x), x.abs() + 1.5)


def test_integers() -> None:
    x, y = torch.randint(-99, 99, (64,), dtype=torch.int32), torch.randint(-99, 99, (64,))
    odd = (x % 2 == 1) | ~(x < y)
    expected = torch.where((x < y) & odd, x // 3, (y % 5).int())
    assert torch.equal(compiled(programs.Integers)(x, y), expected)


def test_reduction_along_the_axis_over_warps() -> None:
    x = torch.randn(64, 16).bfloat16()
    assert torch.equal(compiled(programs.ColumnMax)(x), x.amax(0, keepdim=True))


def test_pipelined_loop_inside_a_spread_loop() -> None:
    kernel = compiled(programs.RowSumsInTiles)
    for rows, columns in ((1, 1), (5, 200), (2, 64)):
        x = torch.randint(-99, 99, (rows, columns)).float()
        assert torch.equal(kernel(x), x.sum(1, keepdim=True))


def test_a_result_beside_an_empty_one() -> None:
    kernel = compiled(programs.Siblings)
    w = torch.randn(1, 64)
    for rows in (0, 3):
        x, y, z = torch.randn(rows, 64), torch.full((rows, 64), float("nan")), torch.full((1, 64), float("nan"))
        kernel(x, w, y, z)
        assert torch.equal(y, x) and torch.equal(z, w + w)


def test_arithmetic_on_scalars() -> None:
    kernel = compiled(programs.Scalars)
    x, h = torch.randn(64), torch.tensor(1.7, dtype=torch.bfloat16)
    for s in (0.25, 2.0, 5.0):
        expected = tilefoundry.evaluate(programs.Scalars, x, torch.tensor(s), torch.tensor(-5, dtype=torch.int32), h)
        # values below 16 of sums whose terms may cancel: 2 roundings of 2**-21
        assert (kernel(x, s, -5, h) - expected).abs().max() <= 2**-20


def test_names_that_cpp_uses_itself() -> None:
    tensors = [torch.randn(64) for _ in range(4)]
    assert torch.equal(compiled(programs.Names)(*tensors), sum(tensors[1:], tensors[0]))


def test_a_loop_as_long_as_the_row_of_the_loop_around_it() -> None:
    x = torch.randint(-99, 99, (9, 32)).float()
    assert torch.equal(compiled(programs.Triangle)(x), x.cumsum(0))


def test_carries_that_exchange_places() -> None:
    x, y = torch.ones(1, 64), 2 * torch.ones(1, 64)
    for rounds, expected in ((0, (1, 2)), (1, (2, 3)), (4, (8, 13))):
        a, b = compiled(programs.swap(rounds))(x, y)
        assert (a == expected[0]).all() and (b == expected[1]).all()


@pytest.mark.parametrize("target", [CudaTarget("nvidia.h200_sxm"), CpuTarget()], ids=lambda t: t.name)
@pytest.mark.parametrize(
    "module",
    [programs.ScaleRows, programs.RowMean, programs.row_softmax(64, "bf16"), programs.matmul(16, "f16")],
    ids=lambda m: m.name,
)
def test_generated_sources_include_the_umbrella_and_name_no_tier(
    module: Module, target: CudaTarget | CpuTarget
) -> None:
    linkable = emit_module(lower(module, target), target)
    for text in (*(unit.source for unit in linkable.units), linkable.host_source):
        assert re.findall(r"#include\s*[<\"]tilefoundry/\S*", text) == ["#include <tilefoundry/runtime.h>"]
    for unit in linkable.units:
        tiers = r"warp|shuffle|shfl|cp_async|ldmatrix|wgmma|mma_sync|fibre|vector\("
        assert not re.search(rf"ops::\w*({tiers})", unit.source)


def test_a_cta_without_exchange_runs_as_a_plain_loop() -> None:
    [alone] = emit_module(lower(programs.ScaleRows, CpuTarget()), CpuTarget()).units
    [together] = emit_module(lower(programs.RowMean, CpuTarget()), CpuTarget()).units
    assert "kCollective = false" in alone.source and "kCollective = true" in together.source
