"""Joined, padded, reversed, repeated and cut tensors, compiled, against torch and the evaluator: exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.compiler import shape_programs as programs
from tests.compiler.running import OPTIONS, compiled, needs_cpu
from tests.compiler.shape_cases import TORCH, agree, bits, numbers
from tilefoundry import EvalError, LaunchError, evaluate

DTYPES = tuple(TORCH)
PADS = {"i64": -3, "i32": 7, "bool": True}


def moving(dtype: str, *inputs: Tensor) -> tuple[list[Tensor], Callable[[Tensor], Tensor], Tensor]:
    """Inputs as torch can move them, how results come back, and what pads."""
    pad = torch.tensor(PADS.get(dtype, -1.5)).to(TORCH[dtype])
    return [bits(x) for x in inputs], lambda x: x.contiguous().view(TORCH[dtype]), bits(pad.view(1))


def padded(x: Tensor, before: Sequence[int], after: Sequence[int], value: Tensor) -> Tensor:
    """`x` with elements around it."""
    shape = [b + n + a for b, n, a in zip(before, x.shape, after, strict=True)]
    out = value.expand(shape).clone()
    out[tuple(slice(b, b + n) for b, n in zip(before, x.shape, strict=True))] = x
    return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_registers(dtype: str) -> None:
    inputs = numbers(128, 5, dtype=dtype), numbers(128, 7, dtype=dtype)
    (a, b), back, value = moving(dtype, *inputs)
    zero = torch.zeros_like(value)
    joined = torch.cat((a, b), 1)
    left, right = joined[:, :4], joined[:, 8:]
    expected = (
        joined,
        torch.stack((a, b[:, 1:6], a)),
        a.flip(1),
        padded(a, (0, 3), (0, 1), value),
        b[:, 1:6:4],
        joined[:, 3:4].expand(128, 5),
        torch.cat((left, padded(right[:, :2], (0, 0), (0, 1), zero)), 1),
        a.T,
        torch.cat((a, a.flip(1), a), 1),
        left,
    )
    agree(programs.in_registers(dtype, PADS.get(dtype, -1.5)), inputs, [back(x) for x in expected])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_other_placements(dtype: str) -> None:
    a, b, d = inputs = numbers(5, 128, dtype=dtype), numbers(7, 128, dtype=dtype), numbers(8, 16, 3, dtype=dtype)
    joined = torch.cat((a, b))
    expected = (
        joined,
        joined.flip(0),
        torch.cat((d, d.flip(2)), 2),
        torch.nn.functional.pad(a[1:4], (0, 0, 3, 1)),
        d.permute(1, 2, 0),
    )
    agree(programs.other_placements(dtype), inputs, expected)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i64"])
def test_windows_of_registers_are_overwritten(dtype: str) -> None:
    x, y, z = numbers(7, 128, dtype=dtype), numbers(2, 128, dtype=dtype), numbers(8, 16, 6, dtype=dtype)
    once, twice, turned = x.clone(), x.clone(), z.clone()
    once[3:5] = x[0:2]
    once[2:5] = x[1:4]
    twice[0:2], twice[5], twice[6] = y, 3, x[4]
    turned[:, :, 3:6] = z[:, :, 1:4]
    agree(programs.updated_registers(dtype), (x, y, z), (once, twice, turned))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "fp8e4m3", "i64"])
def test_tiles(dtype: str) -> None:
    inputs = numbers(8, 6, dtype=dtype), numbers(8, 7, dtype=dtype)
    (a, b), back, value = moving(dtype, *inputs)
    expected = (
        torch.cat((a, b, a), 1),
        torch.stack((a, b[:, 1:]), 1),
        padded(b, (3, 2), (1, 1), value),
        a.flip(0, 1),
        a.repeat_interleave(4, 0),
        a[:, 2:3].expand(8, 7),
        a.T[1:5],
        a[1:7:2, 1:4],
        b[3, 1:],
        a.repeat_interleave(2, 1),
        a[2:6].reshape(2, 2, 6),
    )
    agree(programs.in_tiles(dtype, PADS.get(dtype, -1.5)), inputs, [back(x) for x in expected])


@pytest.mark.parametrize("dtype", ["f32", "f16", "bool", "i32"])
def test_loads(dtype: str) -> None:
    inputs = numbers(8, 6, dtype=dtype), numbers(8, 5, dtype=dtype), numbers(24, 6, dtype=dtype)
    (x, y, z), back, value = moving(dtype, *inputs)
    zero = torch.zeros_like(value)
    expected = (
        torch.cat((x, z)),
        torch.cat((x, y), 1),
        torch.stack((x, x, z[8:16], x)).reshape(4, 8, 6),
        padded(y, (3, 2), (1, 1), value),
        z[2:10, 1:].flip(0, 1),
        x.repeat_interleave(4, 0),
        x[:, 2:3].expand(8, 8),
        z[1:23:3],
        z[0:7].T[1:5],
        z.reshape(16, 9),
        torch.cat((x, y, x), 1),
        padded(y, (3, 2), (1, 1), zero),
        y.repeat_interleave(3, 1),
        padded(x[1:7], (1, 0), (1, 0), zero).flip(0),
    )
    agree(programs.as_loaded(dtype, PADS.get(dtype, -1.5)), inputs, [back(x) for x in expected])


@pytest.mark.parametrize("dtype", ["f32", "bf16", "fp8e4m3"])
def test_straight_to_results(dtype: str) -> None:
    program = programs.straight(dtype)
    for m, n in ((1, 1), (5, 9), (300, 7)):
        inputs = numbers(m, 6, dtype=dtype), numbers(n, 6, dtype=dtype, seed=1)
        (x, y), back, value = moving(dtype, *inputs)
        zero = torch.zeros_like(value)
        expected = (
            torch.cat((x, y, x)),
            torch.stack((x, x), 1),
            padded(y, (3, 1), (0, 2), value),
            x.flip(0, 1),
            x.T,
            y.expand(3, n, 6),
            torch.cat((padded(x, (1, 0), (1, 0), zero).flip(0), y)),
            x,
            x[:, 1:6:2],
            x[None],
            x.repeat_interleave(3, 0),
            y.repeat_interleave(2, 1),
            torch.cat((x, y.repeat_interleave(2, 0))),
            x.flatten(),
        )
        agree(program, inputs, [back(e) for e in expected])


@pytest.mark.parametrize("rows", [1, 4, 7, 30])
def test_tiles_that_hang_over(rows: int) -> None:
    x, y = numbers(rows, 32), numbers(rows, 8)
    expected = torch.cat((x, y), 1), torch.cat((x, x.flip(1)), 1) + 1, torch.cat((x[:, 7:], x[:, :7]), 1)
    agree(programs.Tails, (x, y), expected)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (7, 5), (8, 3), (2, 30)])
def test_loops_that_fill_parts(m: int, n: int) -> None:
    x, y = numbers(m, 32), numbers(n, 32, seed=1)
    agree(programs.Loops, (x, y), (torch.cat((2 * x, -y)),))


@pytest.mark.parametrize(("i", "at"), [(2, 10), (0, 0), (1, 9)])
def test_starts_at_run_time(i: int, at: int) -> None:
    x, d = numbers(11, 6), numbers(9, 6)
    places = torch.tensor([3, at, 4, 2, 1])
    expected = (
        x[i : i + 4],
        d[i : i + 2],
        x[4:6],
        x[at],
        torch.stack([d[k : k + 4, 3:5] for k in range(5)]).sum(0),
        d.T[i : i + 4, 1:9].T,
    )
    agree(programs.Starts, (x, torch.tensor(i, dtype=torch.int32), places, d), expected)


@needs_cpu
@pytest.mark.parametrize(("i", "at", "axis"), [(8, 10, "4 positions from 8"), (2, 11, "from 11"), (-1, 2, "from -1")])
def test_a_window_that_leaves_stops_the_launch(i: int, at: int, axis: str) -> None:
    x, d = numbers(11, 6), numbers(9, 6)
    with pytest.raises(LaunchError, match=f"{axis} on exceed axis 0 of extent 11"):
        compiled(programs.Starts)(x, torch.tensor(i, dtype=torch.int32), torch.tensor([3, at, 4, 2, 1]), d)


def ends(i: int, at: int) -> tuple[Tensor, ...]:
    return numbers(9, 32), torch.tensor(i, dtype=torch.int32), torch.tensor([3, at, 4, 2, 1]), numbers(2, 32, seed=1)


@pytest.mark.parametrize(("i", "at"), [(1, 27), (7, 0)])
def test_windows_that_go_to_run_time_starts(i: int, at: int) -> None:
    x, _, _, u = inputs = ends(i, at)
    a, b = x.clone(), x.clone()
    a[i : i + 2], b[i : i + 2, at : at + 5] = u, u[:, 3:8]
    for k in range(3):
        a[k + 2 : k + 4] = u * k
    agree(programs.Ends, inputs, (a, b))


@needs_cpu
def test_overlapping_writes_are_kept_in_order_or_stop_before_they_are_made() -> None:
    kernel = compiled(programs.Ends, replace(OPTIONS, checking=True))
    kernel(*ends(1, 27))  # checking mode stops where two threads write an element without a barrier in between
    with pytest.raises(EvalError, match="insert_slice exceeds axis 1: elements 28 to 32 of extent 32"):
        evaluate(programs.Ends, *ends(1, 28))
    kernel = compiled(programs.Ends)
    for i, at, words in ((8, 27, "2 positions from 8 on exceed axis 0 of extent 9"), (1, 28, "5 positions from 28 on")):
        out = torch.full((9, 32), 7.0)
        with pytest.raises(LaunchError, match=words):
            kernel(*ends(i, at), torch.empty(9, 32), out)
        assert (out == 7).all()


@pytest.mark.parametrize("rows", [8, 11])
def test_scalars(rows: int) -> None:
    x = numbers(rows, 6)
    total, most = x[:8].sum(), x[:8].max()
    expected = (
        total,
        torch.tensor(9),
        most > total,
        (-most).bfloat16(),
        torch.stack((total, most, 2 * total)),
        x[:4] * most,
        x[3, 2],
        torch.tensor([rows, 6]),
        torch.tensor(rows),
        torch.tensor(2),
    )
    agree(programs.Scalars, (x, torch.tensor(7), torch.tensor([3, 10, 4, 2, 1])), expected)


def test_rows_chosen_at_run_time() -> None:
    table, x, ids = numbers(11, 6), numbers(4, 6), torch.tensor([3, 10, 0, 3], dtype=torch.int32)
    rows = table[ids.long()]
    expected = torch.cat((x, rows), 1).expand(2, 4, 12), torch.cat((rows, x)), torch.cat((x[:3], rows))
    agree(programs.Chosen, (table, ids, x), expected)


@needs_cpu
def test_checking_mode_finds_nothing() -> None:
    checked = replace(OPTIONS, checking=True)
    x, y, d = numbers(8, 6), numbers(8, 7), numbers(9, 6)
    found = compiled(programs.in_tiles("f32"), checked)(x, y)
    assert torch.equal(found[0], torch.cat((x, y, x), 1)) and torch.equal(found[3], x.flip(0, 1))
    places = torch.tensor([3, 7, 4, 2, 1])
    found = compiled(programs.Starts, checked)(x, torch.tensor(2, dtype=torch.int32), places, d)
    assert torch.equal(found[0], x[2:6]) and torch.equal(found[1], d[2:4])
