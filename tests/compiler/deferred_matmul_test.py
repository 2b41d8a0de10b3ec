"""`tf.matmul` of global tensors, of which windows are placed, held against the product in f64.

Bounds: sums are those of f32 (of f64, of integers exactly), and are rounded once to the type of the result.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.compiler import deferred_matmul_programs as programs
from tests.compiler.deferred_matmul_programs import A, B, C, K, M, N
from tests.compiler.running import compare
from tilefoundry.codegen.emit import emit_module
from tilefoundry.passes import lower
from tilefoundry.runtime import Equal, Predicate, RelL2

TORCH = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e4m3": torch.float8_e4m3fn,
    "fp8e5m2": torch.float8_e5m2,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
BOUNDS: dict[str, Predicate] = {
    "f64": RelL2(max=1e-14),
    "f32": RelL2(max=1e-6),
    "f16": RelL2(max=4e-4),
    "bf16": RelL2(max=3e-3),
    "fp8e4m3": RelL2(max=4e-2),
    "fp8e5m2": RelL2(max=8e-2),
}
SIZES = [(5, 7, 9), (64, 64, 64), (67, 70, 130), (3, 33, 0), (130, 1, 1)]


def tensor(dtype: str, *shape: int) -> torch.Tensor:
    """Numbers around 0, which integers hold."""
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
    return (numbers if TORCH[dtype].is_floating_point else 20 * numbers.abs()).to(TORCH[dtype])


def bound(dtype: str) -> list[Predicate]:
    return [BOUNDS.get(dtype, Equal())]


@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_odd_extents_and_transposes(dtype: str, turned: str) -> None:
    module = programs.on_warps(dtype, turned=turned)
    for m, n, k in SIZES:
        left, right = tensor(dtype, m, k), tensor(dtype, k, n)
        a, b = (x.T.contiguous() if name in turned else x for name, x in (("a", left), ("b", right)))
        compare(module, a, b, bounds=bound(dtype))


@pytest.mark.parametrize(
    ("dtype", "out"),
    [
        ("f64", None),
        ("f16", None),
        ("f16", "f32"),
        ("bf16", "f64"),
        ("f32", "f64"),
        ("fp8e4m3", None),
        ("fp8e5m2", "f32"),
        ("i8", None),
        ("i8", "i32"),
        ("u8", "i32"),
        ("i16", None),
        ("i32", "i64"),
        ("i64", None),
    ],
)
def test_element_types(dtype: str, out: str | None) -> None:
    module = programs.on_warps(dtype, out, warps=1)
    for m, n, k in ((17, 40, 67), (3, 5, 0)):
        compare(module, tensor(dtype, m, k), tensor(dtype, k, n), bounds=bound(out or dtype))


@pytest.mark.parametrize(
    ("kind", "rows", "columns"),
    [("lanes", 16, 64), ("lanes", 20, 32), ("half", 7, 64), ("thread", 8, 16), ("thread", 5, 3)],
)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_tiles_that_are_no_accumulators(dtype: str, kind: str, rows: int, columns: int) -> None:
    module = programs.over(dtype, kind, rows, columns)
    for m, n, k in SIZES:
        compare(module, tensor(dtype, m, k), tensor(dtype, k, n), bounds=bound(dtype))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((A, B, C, M, K), (K, N)),
        ((M, K), (A, B, C, K, N)),
        ((A, 1, C, M, K), (B, 1, K, N)),
        ((A, B, C, M, K), (A, B, C, K, N)),
    ],
    ids=["once-right", "once-left", "between", "all"],
)
def test_batches_and_what_they_lack(left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    module = programs.batched(left, right)
    sizes = {A: 2, B: 3, C: 2, M: 19, N: 17, K: 37}
    a, b = (tensor("f32", *(sizes.get(e, e) for e in shape)) for shape in (left, right))
    compare(module, a, b, bounds=bound("f32"))


@pytest.mark.parametrize("split", [False, True], ids=["held", "split"])
@pytest.mark.parametrize(
    ("left", "right"),
    [((A, M, K), (A, K, N)), ((A, M, K), (K, N)), ((M, K), (A, K, N))],
    ids=["both", "left", "right"],
)
def test_windows_of_several_matrices(left: tuple[Any, ...], right: tuple[Any, ...], split: bool) -> None:
    module = programs.windows_of_batches(left, right, "bf16", split)
    for sizes in ({A: 5, M: 19, N: 40, K: 70}, {A: 3, M: 16, N: 32, K: 0}):
        a, b = (tensor("bf16", *(sizes[e] for e in shape)) for shape in (left, right))
        compare(module, a, b, bounds=bound("bf16"))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("dtype", "rows"), [("bf16", 1), ("f32", 3), ("i8", 2)])
def test_few_rows(dtype: str, rows: int, turned: bool) -> None:
    module = programs.few_rows(dtype, rows, turned)
    for n, k in ((33, 700), (64, 1), (5, 0), (1, 256)):
        b = tensor(dtype, k, n)
        compare(module, tensor(dtype, rows, k), b.T.contiguous() if turned else b, bounds=bound(dtype))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_products_of_products(dtype: str, side: str) -> None:
    module = programs.chained(dtype, side)
    bounds = [RelL2(max=2e-6 if dtype == "f32" else 6e-3)]  # of bf16 the inner product is rounded as well
    for m, n, k, inner in ((5, 7, 9, 3), (33, 70, 130, 65), (3, 3, 3, 0)):
        a, b, c = tensor(dtype, m, k), tensor(dtype, k, inner), tensor(dtype, inner, n)
        compare(module, a, b, c, bounds=bounds)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_heads_that_are_parts_of_rows(dtype: str) -> None:
    module = programs.heads(dtype)
    for b, m, n in ((2, 33, 40), (1, 64, 7)):
        compare(module, tensor(dtype, b, m, 48), tensor(dtype, b, n, 48), bounds=bound(dtype))


# Of 16-bit types the product, and each value after it, is rounded in the reference as well: half a unit each.
SEVERAL = {"f32": RelL2(max=2e-6), "bf16": RelL2(max=1e-2)}


@pytest.mark.parametrize("cores", [True, False], ids=["accumulator", "lanes"])
@pytest.mark.parametrize(("dtype", "kind"), [("f32", "gate"), ("bf16", "gate"), ("bf16", "cast"), ("f32", "exp")])
def test_what_comes_after_a_product(dtype: str, kind: str, cores: bool) -> None:
    module = programs.epilogue(dtype, kind, cores)
    for b, m, n, k in ((2, 67, 33, 70), (1, 64, 16, 0)):
        inputs = (0.3 * tensor(dtype, b, m, k), tensor(dtype, k, n), tensor(dtype, n), tensor(dtype, b, m, n))
        compare(module, *inputs, bounds=[SEVERAL[dtype]])


def test_a_window_of_a_product_is_computed_once() -> None:
    text = emit_module(lower(programs.epilogue("bf16", "gate", True)), programs.TARGET).units[0].source
    assert text.count("ops::mma(") == 1


@pytest.mark.parametrize("kind", ["left", "right", "both", "turned"])
@pytest.mark.parametrize(("dtype", "warps"), [("f32", 1), ("bf16", 4)])
def test_operands_that_are_computed(dtype: str, warps: int, kind: str) -> None:
    module = programs.operands(dtype, kind, warps)
    for m, n, k in ((67, 33, 70), (5, 40, 1), (3, 3, 0)):
        a, b = tensor("f32", m, k), tensor("f32", k, n)
        compare(module, a, b.T.contiguous() if kind == "turned" else b, bounds=[SEVERAL[dtype]])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_shared_tiles_of_computed_values_are_zero_beyond_their_extents(dtype: str) -> None:
    module = programs.staged_by_hand(dtype)
    for m, n, k in ((33, 20, 37), (5, 7, 0)):
        compare(module, tensor(dtype, m, k), tensor(dtype, k, n), bounds=[SEVERAL[dtype]])
