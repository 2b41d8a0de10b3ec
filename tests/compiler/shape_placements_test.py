"""Views, parts and fresh tensors on odd placements, compiled, against torch and the evaluator: exactly.

Ops on shared tiles, some of which round, against the evaluator in f64.
"""

from __future__ import annotations

import pytest
import torch

from tests.compiler import shape_placements as programs
from tests.compiler.running import compare
from tests.compiler.shape_cases import agree, numbers
from tilefoundry.runtime import RelL2


def test_axes_split_over_several_mesh_axes() -> None:
    x, y, z, w = numbers(64, 12), numbers(4, 8), numbers(32, 1, 12), numbers(64, 8)
    half, flat = x[32:], z[:, 0]
    expected = (
        x.reshape(2, 32, 12),
        x.reshape(768),
        half.T + 1,
        y.T**2 + 2 * y.T,
        y.sum(1)[None],
        half[:, 8:],
        half[:, :4] + half[:, 4:8],
        flat,
        half[:, None],
        flat[:, 3:4].expand(3, 32, 5),
        2 * w,
    )
    agree(programs.Split, (x, y, z, w), expected)


@pytest.mark.parametrize("i", [0, 7])
def test_tiles(i: int) -> None:
    x, z = numbers(8, 12), numbers(8, 1)
    expected = (
        x.reshape(4, 24),
        x.reshape(8, 3, 4),
        x.T,
        x[:, 8:],
        x[:, :4],
        x,
        z.expand(3, 8, 5),
        torch.full((8, 12), 2.5),
        x[i, 3],
        x[2, 5],
    )
    agree(programs.Tiles, (x, z, torch.tensor(i, dtype=torch.int32)), expected)


@pytest.mark.parametrize("rows", [1, 5, 300])
def test_fresh(rows: int) -> None:
    x, n, y, z = numbers(rows, 4, dtype="f16"), torch.tensor(2.5), numbers(32), numbers(rows, 1)
    ramp = torch.arange(64, dtype=torch.int32) * 2 + 3
    expected = (
        torch.zeros(32, 4, dtype=torch.bool),
        torch.zeros(rows, 4, dtype=torch.bfloat16),
        torch.tensor(0.0),
        ramp[:32],
        ramp,
        7 - 3 * torch.arange(rows),
        torch.arange(64, dtype=torch.int32).reshape(8, 8),
        ramp[3:27:3],
        torch.full((rows, 4), 3.0, dtype=torch.float16),
        3 * y,
        torch.tensor(2 + 4 * rows),
        n[None],
        n.expand(32),
        z.expand(rows, 5),
        torch.cat((torch.zeros(3), y[1:6])),
    )
    agree(programs.Fresh, (x, n, y, z), expected)


def test_what_loops_carry() -> None:
    x = numbers(4, 8)
    a, b, total, low, high = x, 2 * x, x.sum(), 3, 4
    for _ in range(5):
        a, b, total, low, high = b + total, a.flip(1), 2 * total - 1, high, low + high
    agree(programs.Carried, (x, torch.tensor(3)), (a - b, total, torch.tensor(low)))


def test_parts_of_tiles_as_operands_of_products() -> None:
    x, y = numbers(16, 40, dtype="bf16") % 3, numbers(16, 16, dtype="bf16") % 3
    s, b = x.float(), y.float()
    rounded = [t.bfloat16().float() for t in (torch.cat((b, s[:, 8:24])) @ b, s[:, 3:19] @ b, s[:, 16:32] @ b.T)]
    agree(programs.Products, (x, y), (rounded[0], rounded[1] + rounded[2]))


@pytest.mark.parametrize("rows", [1, 9])
def test_parameters_as_results(rows: int) -> None:
    x, n = numbers(rows, 8), torch.tensor(1.5)
    agree(programs.Given, (x, n), (x, n, x[:, 2:5]))


@pytest.mark.parametrize(("rows", "columns"), [(5, 33), (8, 32)])
def test_ops_on_shared_tiles(rows: int, columns: int) -> None:
    # sums of 33 elements of about 1, and what is computed from one element, rounded a few times
    x, v = torch.randn(rows, columns), torch.randn(columns)
    compare(programs.of_shared_tiles(rows, columns), x, v, bounds=[RelL2(max=1e-6)])


@pytest.mark.parametrize("rows", [1, 37])
def test_tiles_in_loops(rows: int) -> None:
    x, y, z = numbers(33, 9), numbers(rows, 16), numbers(16, 16, dtype="bf16") % 3
    beyond = torch.zeros(96, 12)
    beyond[:33, :9] = 2 * x
    around = torch.nn.functional.pad(x[:32], (1, 3))  # one zero before a row, three behind it
    held = sum(around[:, j + 1 : j + 5] * around[:, j : j + 4] for j in (0, 4, 8))
    b = z.float()
    expected = (
        beyond.reshape(3, 32, 3, 4).sum((0, 2)) + 3 * held,
        (y * 2 * b.sum(0)).cumsum(1) + y,
        (b.relu() @ (2 * b)).bfloat16().float(),
    )
    agree(programs.Walked, (x, y, z), expected)
