"""Arithmetic ops, compiled for the CPU with the placement that they have for a GPU, against the evaluator in f64."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tilefoundry
from tests.compiler import arithmetic_programs as programs
from tests.compiler.running import compiled
from tilefoundry.codegen.op_tags import BINARY, REDUCE, UNARY
from tilefoundry.ir.hir import BinaryKind, ReduceKind, UnaryKind

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16}


def close(value: torch.Tensor, exact: torch.Tensor) -> None:
    """The f64 result, rounded once from f32 whose own error is some units: each op here has a few roundings."""
    bound = torch.finfo(value.dtype).eps / 2 + 16 * torch.finfo(torch.float32).eps
    least = 16 * torch.finfo(torch.float32).eps
    torch.testing.assert_close(value.double(), exact, rtol=bound, atol=least, equal_nan=True)


@pytest.mark.parametrize("dtype", TORCH)
def test_compositions(dtype: str) -> None:
    module = programs.compositions(dtype)
    kernel = compiled(module)
    torch.manual_seed(1)
    x, w, b = (3 * torch.randn(64, 64)).to(TORCH[dtype]), torch.randn(64).to(TORCH[dtype]), torch.randn(64)
    x[0, :4] = torch.tensor([90.0, -90.0, 20.5, 0.0])
    values, exact = kernel(x, w, b), tilefoundry.evaluate(module, x, w, b, precision="f64")
    declared = tilefoundry.evaluate(module, x, w, b)
    assert len(values) == len(exact) == 8
    for value, expected, same in zip(values, exact, declared, strict=True):
        assert value.dtype == same.dtype == x.dtype
        close(value, expected)


def test_unary_kinds() -> None:
    kernel = compiled(programs.Unaries)
    x = torch.randn(64, 64) * 4
    x[0, :3] = torch.tensor([float("nan"), float("inf"), float("-inf")])
    values, exact = kernel(x), tilefoundry.evaluate(programs.Unaries, x, precision="f64")
    for value, expected in zip(values, exact, strict=True):
        close(value, expected)
    assert values[9][0, 0] == 1 and values[10][0, :4].tolist() == [0, 1, 1, 0]


def test_reduce_kinds() -> None:
    kernel = compiled(programs.Reductions)
    x = torch.randn(64, 64).abs() + 0.01
    x[::2, 5] = -1.0
    x[:, 7] = 0.5
    least, product, some, every = kernel(x)
    assert torch.equal(least, x.amin(1, keepdim=True))
    close(product, x.double().prod(1, keepdim=True))
    assert torch.equal(some, (x > 1).any(0, keepdim=True)) and not some[0, 7]
    assert torch.equal(every, (x > 0).all(1)) and not every[0] and every[1]


def test_searches() -> None:
    kernel = compiled(programs.Searches)
    x, y = torch.randint(-9, 9, (64, 32)).float(), torch.randint(-3, 3, (64, 8), dtype=torch.int32)
    inf, nan = float("inf"), float("nan")
    x[0, 5] = x[0, 9] = nan
    x[1], y[1] = -inf, -(2**31)
    x[2], x[2, 3], x[2, 20] = nan, inf, 1.0
    x[3], x[3, 7] = inf, nan
    values = kernel(x, y)
    for value, expected in zip(values[:3], tilefoundry.evaluate(programs.Searches, x, y)[:3], strict=True):
        assert torch.equal(value, expected)
    assert values[0][:2].tolist() == [5, 0]
    for value, expected in zip(values[9:], tilefoundry.evaluate(programs.Searches, x, y)[9:], strict=True):
        assert torch.equal(value, expected)
    # of equal elements the kernel takes the first, as a stable sort does
    for (found, at), source, count, largest in (
        (values[3:5], x, 4, True),
        (values[5:7], x, 3, False),
        (values[7:9], y, 8, False),
    ):
        ordered, places = torch.sort(source, dim=1, descending=largest, stable=True)
        torch.testing.assert_close(found, ordered[:, :count], rtol=0, atol=0, equal_nan=True)
        assert torch.equal(at, places[:, :count])


@pytest.mark.parametrize("dtype", TORCH)
def test_groups(dtype: str) -> None:
    module = programs.groups(dtype)
    kernel = compiled(module)
    x = (torch.randn(64, 64) * 7).to(TORCH[dtype])
    x[0, :16], x[1, 16:32] = 0, 1e-6
    for value, expected in zip(kernel(x), tilefoundry.evaluate(module, x), strict=True):
        assert value.dtype == expected.dtype
        assert torch.equal(value.float(), expected.float())


def test_every_kind_has_a_functor() -> None:
    assert set(BINARY) == set(BinaryKind)
    assert set(UNARY) == set(UnaryKind) - {UnaryKind.CAST}
    assert set(REDUCE) == set(ReduceKind)
    core = Path(tilefoundry.__file__).parent / "runtime/include/tilefoundry/runtime/core"
    functors, reducers = ((core / name).read_text(encoding="utf-8") for name in ("functors.h", "reducers.h"))
    for tag in {*BINARY.values(), *UNARY.values()}:
        assert f"_OP({tag}, " in functors or f"struct {tag} {{" in functors, tag
    for tag in REDUCE.values():
        assert f"TILEFOUNDRY_REDUCER({tag}, " in reducers, tag


def test_values_at_the_edges() -> None:
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[448, 464, 465, -1000, 1e5, inf, -inf, nan], [-0.0, 0.0, -1, 2, 3e38, 1e-40, 61439, 61440]])
    x = x.repeat(2, 1)
    for found, expected in zip(compiled(programs.Edges)(x), tilefoundry.evaluate(programs.Edges, x), strict=True):
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found.float(), expected.float(), rtol=1e-6, atol=0, equal_nan=True)
        assert torch.equal(
            found.float().signbit() | found.float().isnan(), expected.float().signbit() | expected.float().isnan()
        )
