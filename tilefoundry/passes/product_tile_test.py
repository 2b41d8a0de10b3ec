"""Which tile a placement gives a product, and that tiles of it can be computed so."""

from __future__ import annotations

import pytest

from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.dims import Dim, DimVar
from tilefoundry.ir.hir import MatMul, Transpose
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import DType, make_tensor_type
from tilefoundry.passes.lower.fragments import Mode, extent_of
from tilefoundry.passes.lower.matrix.accumulator import is_of_tensor_cores, suits
from tilefoundry.passes.lower.matrix.product_tile import product_tile
from tilefoundry.target import CpuTarget, CudaTarget, Target

GPU, CPU = CudaTarget("nvidia.h200_sxm"), CpuTarget.default()
S = DimVar("S", 1, 1 << 20)


def product(dtype: str, m: Dim, n: Dim, turned: bool = False) -> Call:
    a = Var("a", make_tensor_type((m, 256), dtype))
    b = Var("b", make_tensor_type((n, 256) if turned else (256, n), dtype))
    return Call(MatMul(), (a, Call(Transpose((1, 0)), (b,)) if turned else b))


@pytest.mark.parametrize(
    ("dtype", "m", "n", "beside", "tile"),
    [
        ("bf16", 4096, 4096, (), (128, 128)),
        ("f16", S, S, (), (128, 128)),
        ("bf16", 4096, 4096, (DType.bf16,), (128, 128)),
        ("bf16", 4096, 4096, (DType.f32,), (128, 64)),  # another tile of the same places takes registers
        ("bf16", 16, 4096, (), (16, 64)),
        ("f32", 1024, 1024, (), (64, 64)),
        ("f64", S, S, (), (64, 64)),
    ],
)
def test_of_many_threads(dtype: str, m: Dim, n: Dim, beside: tuple[DType, ...], tile: tuple[int, int]) -> None:
    acc = product_tile(product(dtype, m, n), 128, GPU, beside)
    assert acc.shape == tile and acc.mesh.size == 128
    assert suits(acc, True) == is_of_tensor_cores(acc) == (dtype in ("bf16", "f16"))


def test_few_tiles_are_smaller_so_that_more_ctas_have_one() -> None:
    rows, columns = product_tile(product("bf16", 512, 512), 128, GPU).shape
    assert rows * columns < 128 * 128


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows", [1, 4])
def test_few_rows_are_whole_in_each_thread(rows: int, turned: bool) -> None:
    acc = product_tile(product("bf16", rows, 4096, turned), 128, GPU)
    assert acc.shape[0] == rows and all(mode.split is None for mode in acc.rows)
    # where memory has the reduced axis one after the other, the lanes of a warp divide that
    assert acc.columns == ((Mode(4, 0), Mode(4)) if turned else (Mode(4, 2), Mode(8)))


@pytest.mark.parametrize("target", [CPU, GPU])
def test_one_thread_has_all(target: Target) -> None:
    acc = product_tile(product("f32", S, S), 1, target)
    assert acc.shape == (64, 64) and acc.mesh.layout == Layout((1,), (1,))
    assert extent_of(acc.rows) == 64 and all(mode.split is None for mode in (*acc.rows, *acc.columns))
