"""Reads and writes at run-time indices, compiled, against torch and the evaluator: exactly, and in one order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import tilefoundry
from tests.compiler import index_programs as programs
from tests.compiler.running import TARGET, compiled

TORCH = {
    name: getattr(torch, attr)
    for name, attr in (
        ("f64", "float64"),
        ("f32", "float32"),
        ("f16", "float16"),
        ("bf16", "bfloat16"),
        ("fp8e4m3", "float8_e4m3fn"),
        ("i64", "int64"),
        ("i32", "int32"),
        ("i8", "int8"),
        ("bool", "bool"),
    )
}


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> torch.Tensor:
    """Small integers, which every dtype holds and adds exactly."""
    values = torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed))
    return values.float().to(TORCH[dtype])


def indices(shape: tuple[int, ...], extent: int, dtype: str) -> torch.Tensor:
    """Indices of which some repeat, the first and the last one among them."""
    found = torch.randint(0, max(extent, 1), shape, generator=torch.Generator().manual_seed(7))
    if found.numel() > 2:
        found.view(-1)[0], found.view(-1)[1] = extent - 1, 0
    return found.to(TORCH[dtype])


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.view(torch.uint8) if x.element_size() == 1 else x


def same(got: torch.Tensor, expected: torch.Tensor) -> bool:
    return got.dtype == expected.dtype and torch.equal(bits(got), bits(expected))


def poisoned(x: torch.Tensor) -> torch.Tensor:
    """Memory like `x` in which every byte is set."""
    return torch.full((x.numel() * x.element_size(),), 255, dtype=torch.uint8).view(x.dtype).view(x.shape)


def into_poison(kernel: Callable[..., object], *inputs: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """What the kernel writes, with nothing left of what was there."""
    out = poisoned(like)
    kernel(*inputs, out)
    return out


@pytest.mark.parametrize(
    ("columns", "dtype", "index"),
    [
        (64, "f32", "i64"),
        (64, "bf16", "i32"),
        (256, "f16", "i64"),
        (32, "f64", "i32"),
        (96, "fp8e4m3", "i32"),
        (32, "i64", "i64"),
        (32, "bool", "i32"),
    ],
)
def test_rows_of_a_table(columns: int, dtype: str, index: str) -> None:
    kernel = compiled(programs.embedding(columns, dtype, index))
    for rows, count in ((11, 21), (1, 8), (300, 1), (5, 0)):
        table, ids = numbers((rows, columns), dtype), indices((count,), rows, index)
        expected = bits(table)[ids.long()].view(table.dtype)
        assert same(into_poison(kernel, table, ids, like=expected), expected)
    every_other = numbers((14, 2 * columns), dtype)[::2, ::2]  # no strides are 1
    ids = indices((9,), 7, index)
    assert same(kernel(every_other, ids), bits(every_other.contiguous())[ids.long()].view(every_other.dtype))


@pytest.mark.parametrize("index", ["i32", "i64"])
def test_an_index_out_of_range_is_reported_with_its_place(index: str) -> None:
    if TARGET != "cpu":
        pytest.skip("a trap on a GPU ends the process's context")
    kernel = compiled(programs.embedding(64, "f32", index))
    table, ids = numbers((11, 64), "f32"), indices((20,), 11, index)
    for bad in (-1, 11, 2**31 - 1):
        ids[13] = bad
        words = f"index {bad} is out of range for axis 0 of extent 11"
        with pytest.raises(tilefoundry.TileFoundryError, match=rf"'embedding': instance \(cta 1, thread 64\): {words}"):
            kernel(table, ids)
        with pytest.raises(tilefoundry.EvalError, match=words):
            tilefoundry.evaluate(programs.embedding(64, "f32", index), table, ids)
    ids[13] = 10
    assert same(kernel(table, ids), table[ids.long()])
    with pytest.raises(tilefoundry.TileFoundryError, match="index 0 is out of range for axis 0 of extent 0"):
        kernel(table[:0], ids * 0)


@pytest.mark.parametrize(("dtype", "index"), [("f32", "i32"), ("bf16", "i64")])
def test_rows_staged_in_shared_memory_and_columns_of_them(dtype: str, index: str) -> None:
    kernel = compiled(programs.staged(dtype, index))
    for rows, count in ((9, 40), (3, 1), (1, 16)):
        table, ids = numbers((rows, 24), dtype), indices((count,), rows, index)
        columns = indices((40,), 24, index)
        expected = table[ids.long()][:, columns.long()]
        assert same(into_poison(kernel, table, ids, columns, like=expected), expected)


@pytest.mark.parametrize("index", ["i32", "i64"])
@pytest.mark.parametrize(("dim", "dtype"), [(0, "f32"), (1, "f16")])
def test_a_gather_of_fragments(dim: int, dtype: str, index: str) -> None:
    x, at = numbers((32, 32), dtype), indices((32, 32), 32, index)
    assert same(compiled(programs.in_registers(dim, dtype, index))(x, at), x.gather(dim, at.long()))


@pytest.mark.parametrize(("dtype", "index"), [("f32", "i64"), ("f16", "i32"), ("i8", "i64")])
def test_reads_that_are_results(dtype: str, index: str) -> None:
    kernel = compiled(programs.whole_reads(dtype, index))
    for rows, columns, count in ((7, 64, 12), (5, 33, 1), (300, 1, 700), (2, 40, 0)):
        x, ids, at = (
            numbers((rows, columns), dtype),
            indices((count,), rows, index),
            indices((3, columns), rows, index),
        )
        chosen, picked = torch.index_select(x, 0, ids.long()), x.gather(0, at.long())
        a, b = poisoned(chosen), poisoned(picked)
        kernel(x, ids, at, a, b)
        assert same(a, chosen) and same(b, picked)


@pytest.mark.parametrize(("dtype", "index"), [("f32", "i32"), ("bf16", "i64"), ("i8", "i32"), ("i64", "i64")])
def test_updates_that_are_results(dtype: str, index: str) -> None:
    kernel = compiled(programs.whole_updates(dtype, index))
    for rows, columns, count in ((7, 64, 12), (12, 33, 1), (1, 5, 5), (300, 2, 0)):
        x, ids = numbers((rows, columns), dtype), indices((count,), rows, index)
        update, source = numbers((count, columns), dtype, 1), numbers((3, count), dtype, 2)
        y, at = numbers((2, columns), dtype, 3), indices((2, count), columns, index)
        outs = [poisoned(x), poisoned(x), poisoned(y)]
        kernel(x, ids, update, at, source, y, *outs)
        replaced = x.clone()
        for k, row in enumerate(ids.tolist()):
            replaced[row] = update[k]
        assert same(outs[0], torch.index_add(x, 0, ids.long(), update))
        assert same(outs[1], replaced)
        assert same(outs[2], torch.scatter_add(y, 1, at.long(), source))


def test_additions_come_in_the_order_of_the_indices() -> None:
    """Each addition rounds, so another order, or a sum that is rounded once, gives other bits."""
    kernel = compiled(programs.whole_updates("bf16", "i64"))
    x, ids = torch.randn(3, 64).bfloat16(), indices((50,), 3, "i64")
    update, source = torch.randn(50, 64).bfloat16(), torch.zeros(3, 50).bfloat16()
    added = x.clone()
    for k, row in enumerate(ids.tolist()):
        added[row] += update[k]
    assert same(kernel(x, ids, update, torch.zeros(2, 50).long(), source, x[:2])[0], added)


def test_windows_of_columns_are_updated_by_a_cta_each() -> None:
    kernel = compiled(programs.Columns)
    for rows, columns, count in ((7, 64, 12), (5, 33, 1), (1, 1, 9), (20, 95, 0)):
        x, ids = numbers((rows, columns), "f32"), indices((count,), rows, "i32")
        update = numbers((count, columns), "f32", 1)
        expected = torch.index_add(x, 0, ids.long(), update)[None]
        assert same(into_poison(kernel, x, ids, update, like=expected), expected)


@pytest.mark.parametrize(("dtype", "index"), [("f32", "i64"), ("f16", "i32"), ("i32", "i32")])
def test_updates_of_fragments(dtype: str, index: str) -> None:
    x, ids, update = numbers((6, 64), dtype), indices((5,), 6, index), numbers((5, 64), dtype, 1)
    at = indices((5, 64), 6, index)
    added, copied, scattered = compiled(programs.fragments(dtype, index))(x, ids, update, at)
    replaced = x.clone()
    for k, row in enumerate(ids.tolist()):
        replaced[row] = update[k]
    assert same(added, torch.index_add(x, 0, ids.long(), update))
    assert same(copied, replaced)
    assert same(scattered, torch.scatter_add(x, 0, at.long(), update))


def test_updates_of_shared_tiles() -> None:
    kernel = compiled(programs.Tiles)
    for count in (1, 5):
        x, update = numbers((count, 8, 16), "bf16"), numbers((count, 12, 16), "bf16", 1)
        rows, at = indices((count, 12), 8, "i64"), indices((count, 8, 5), 16, "i64")
        expected = torch.stack(
            [
                (a := torch.index_add(x[i], 0, rows[i], update[i])).scatter_add(1, at[i], a.gather(1, at[i]))
                for i in range(count)
            ]
        )
        assert same(into_poison(kernel, x, rows, update, at, like=expected), expected)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_new_positions_of_a_cache(dtype: str) -> None:
    kernel = compiled(programs.cache(dtype))
    for length, given, at, count in ((9, 4, 3, 4), (9, 4, 5, 2), (3, 5, 0, 3), (6, 2, 6, 0), (64, 1, 63, 1)):
        keys, new = numbers((2, length, 3, 8), dtype), numbers((2, given, 3, 8), dtype, 1)
        expected = keys.clone()
        expected[:, at : at + count] = new[:, :count]
        assert same(into_poison(kernel, keys, at, count, new, like=expected), expected)
    if TARGET == "cpu":
        keys, new = numbers((2, 9, 3, 8), dtype), numbers((2, 4, 3, 8), dtype)
        for at, count, words in (
            (6, 4, "4 positions from 6 on exceed axis 1 of extent 9"),
            (-1, 2, "2 positions from -1 on exceed axis 1 of extent 9"),
            (0, 5, "5 positions from 0 on exceed axis 1 of extent 4"),
            (0, -1, "-1 positions from 0 on exceed axis 1 of extent 4"),
        ):
            with pytest.raises(tilefoundry.TileFoundryError, match=rf"kernel 'cached'.*{words}"):
                kernel(keys, at, count, new)


def test_a_cache_in_registers_and_in_shared_memory() -> None:
    kernel = compiled(programs.HeldCache)
    keys, new = numbers((2, 9, 4, 8), "f32"), numbers((2, 3, 4, 8), "f32", 1)
    for at in (0, 4, 6):
        first, second = keys.clone(), keys.clone()
        first[:, at : at + 2], second[:, at : at + 3] = new[:, :2], new
        a, b = kernel(keys, at, new)
        assert same(a, first) and same(b, second)


def test_rows_that_ctas_share_are_staged_by_each() -> None:
    x, at = torch.randn(32, 40).half(), indices((40,), 40, "i32")
    chosen, values, places = compiled(programs.Spread)(x, at)
    order = torch.sort(x, dim=1, descending=True, stable=True)
    assert same(chosen, x[:, at.long()])
    assert same(values, order.values[:, :33]) and same(places, order.indices[:, :33])


@pytest.mark.parametrize(("rows", "columns", "dtype"), [(64, 64, "f32"), (32, 96, "bf16"), (64, 32, "i64")])
def test_long_axes_in_order_and_their_running_sums(rows: int, columns: int, dtype: str) -> None:
    x = numbers((rows, columns), dtype)  # many are equal
    if dtype != "i64":
        x[3, 5] = x[7, 9] = float("nan")
    order, order_at, least, least_at, sums = compiled(programs.ordered(rows, columns, dtype))(x)
    down, up = torch.sort(x, dim=1, descending=True, stable=True), torch.sort(x, dim=0, stable=True)
    assert torch.equal(order.nan_to_num(99), down.values.nan_to_num(99)) and same(order_at, down.indices)
    assert torch.equal(least.nan_to_num(99), up.values[:2].nan_to_num(99)) and same(least_at, up.indices[:2])
    wide = x.double() if x.is_floating_point() else x
    assert torch.equal(sums.nan_to_num(99), wide.cumsum(0).to(x.dtype).nan_to_num(99))
