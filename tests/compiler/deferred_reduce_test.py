"""Reductions of global tensors and what is made of them, computed tile by tile: at once in registers, or in loops."""

from __future__ import annotations

import math

import pytest
import torch

from tests.compiler.running import compare
from tests.compiler.tiled import ALONE, GRID, THREADS, L, Tiled, W, m, of, program
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import (
    ArgMax,
    ArgMin,
    Binary,
    BinaryKind,
    Cast,
    GridRegionExpr,
    InsertSlice,
    LayerNorm,
    Reduce,
    ReduceKind,
    Reshard,
    RMSNorm,
    Slice,
    Softmax,
    Unary,
    UnaryKind,
    Zeros,
)
from tilefoundry.ir.shard import Layout, Mesh, MeshAxis
from tilefoundry.ir.tir import Evaluate, For, PrimFunction, TileLoad, items_within, unfold
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes import lower
from tilefoundry.passes.lower.fragments import row_modes, spread_over
from tilefoundry.runtime import AllClose, Equal
from tilefoundry.target import CudaTarget

M, N = DimVar("M", 1, 1 << 20), DimVar("N", 0, 1 << 20)
ROWS = m(W)
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64, "i32": torch.int32, "bool": torch.bool}


def reduce(kind: ReduceKind, x: Expr, axes: tuple[int, ...], keepdim: bool = False) -> Expr:
    return Call(Reduce(axes, keepdim, kind), (x,))


def reductions(dtype: str, columns: object) -> Module:
    """Of rows, which warps share, of columns, of all, and of what is computed."""
    logical = dtype == "bool"
    sum_ = ReduceKind.ANY if logical else ReduceKind.SUM
    most = ReduceKind.ALL if logical else ReduceKind.MAX

    def build(x: Expr) -> list[Tiled]:
        y = Call(Unary(UnaryKind.NOT if logical else UnaryKind.ABS), (x,))
        results = [
            Tiled(reduce(sum_, x, (1,)), (ROWS,)),
            Tiled(reduce(most, x, (-1,), True), (ROWS, ())),
            Tiled(reduce(sum_, y, (0,)), (m(L, 2),)),
            Tiled(reduce(most, y, (0, 1)), ()),
        ]
        if not logical:
            results += [
                Tiled(reduce(ReduceKind.MIN, x, (1,)), (m(W, L),)),
                Tiled(reduce(ReduceKind.ABS_MAX, x, (1,)), (ROWS,)),
            ]
        if dtype in ("f32", "bf16", "f64"):
            mean = reduce(ReduceKind.MEAN, y, (0, 1))
            results += [
                Tiled(reduce(ReduceKind.MEAN, x, (1,)), (ROWS,)),
                Tiled(Call(Binary(BinaryKind.SUB), (y, mean)), (m(W), m(L, 2))),
            ]
        return results

    return program([of((M, columns), dtype)], build)


def sample(dtype: str, *shape: int) -> torch.Tensor:
    if dtype == "bool":
        return torch.rand(shape) < 0.9
    if dtype == "i32":
        return torch.randint(-1000, 1000, shape, dtype=torch.int32)
    return torch.randn(shape).to(TORCH[dtype])


@pytest.mark.parametrize(
    ("dtype", "columns"), [("f32", N), ("f32", 1000), ("bf16", 70), ("f64", 5), ("i32", 131), ("bool", 70)]
)
def test_reductions(dtype: str, columns: object) -> None:
    torch.manual_seed(0)
    bound = {"f32": AllClose(2e-5, 2e-5), "bf16": AllClose(1e-2, 1e-2), "f64": AllClose(1e-12, 1e-12)}
    module = reductions(dtype, columns)
    for extents in ((13, 5000), (3, 1)) if columns is N else ((13, columns),):
        compare(module, sample(dtype, *extents), bounds=[bound.get(dtype, Equal())])


def products_and_planes() -> Module:
    """Several axes of more than two, with neighbours and without, and products of few elements."""

    def build(x: Expr) -> list[Tiled]:
        return [
            Tiled(reduce(ReduceKind.SUM, x, (0, 2)), (m(W, 2), m(2))),
            Tiled(reduce(ReduceKind.MAX, x, (1, 3), True), (m(W), (), m(L), ())),
            Tiled(reduce(ReduceKind.PROD, x, (3,)), (m(2), m(W), m(L))),
            Tiled(reduce(ReduceKind.SUM, x, (0, 1, 2, 3)), ()),
        ]

    return program([of((M, 9, 40, 3), "f32")], build)


def test_products_and_planes() -> None:
    torch.manual_seed(0)
    compare(products_and_planes(), torch.randn(5, 9, 40, 3), bounds=[AllClose(2e-5, 2e-5)])


def rows(columns: object, dtype: str, mesh: Mesh = THREADS) -> Module:
    """Norms and softmax of whole rows, where they are known and fit, and of windows of rows."""
    whole = row_modes(THREADS, [ROWS], columns) if isinstance(columns, int) else m(L, 2)

    def build(x: Expr, weight: Expr, bias: Expr) -> list[Tiled]:
        softmax = Call(Softmax(-1), (x,))
        return [
            Tiled(softmax, (ROWS, whole)),
            Tiled(Call(RMSNorm(1e-5), (softmax, weight)), (ROWS, m(L, 2))),
            Tiled(Call(LayerNorm(eps=1e-5), (x, weight, bias)), (ROWS, whole)),
            Tiled(Call(Softmax(0), (x,)), (m(2), m(L))),
        ]

    return program([of((M, columns), dtype), of((columns,), dtype), of((columns,), dtype)], build, mesh)


@pytest.mark.parametrize(
    ("columns", "dtype", "mesh"), [(N, "f32", THREADS), (384, "f32", THREADS), (70, "bf16", THREADS), (N, "f32", ALONE)]
)
def test_rows(columns: object, dtype: str, mesh: Mesh) -> None:
    torch.manual_seed(0)
    extent = columns if isinstance(columns, int) else 3000
    inputs = [torch.randn(shape).to(TORCH[dtype]) for shape in ((9, extent), (extent,), (extent,))]
    bound = 1e-5 if dtype == "f32" else 2e-2
    compare(rows(columns, dtype, mesh), *inputs, bounds=[AllClose(bound, bound)])


def number_beside_a_fragment() -> Module:
    """A number that is computed from all of a tensor, times what registers hold."""

    def build(x: Expr) -> list[Tiled]:
        place = Call(Reduce((0,), False, ReduceKind.MAX), (Call(Cast("f32"), (Call(ArgMax(1), (x,)),)),))
        held = Call(Reshard(spread_over(THREADS, m(3), m(W, L)), StorageKind.RMEM), (x,))
        scaled = Call(Binary(BinaryKind.MUL), (held, place))
        return [Tiled(Call(Reshard(Layout((3, 128)), StorageKind.GMEM), (scaled,)), None)]

    return program([of((3, 128), "f32")], build)


def test_number_beside_a_fragment() -> None:
    torch.manual_seed(0)
    compare(number_beside_a_fragment(), torch.randn(3, 128), bounds=[Equal()])


def test_a_row_that_a_tile_holds_is_read_once() -> None:
    def build(x: Expr) -> list[Tiled]:
        return [Tiled(Call(Softmax(-1), (x,)), (ROWS, m(4, L, 8)))]

    (kernel,) = lower(program([of((M, 1000), "bf16")], build)).functions
    assert isinstance(kernel, PrimFunction)
    items = items_within(unfold(kernel.body))
    assert len([i for i in items if isinstance(i, Evaluate) and isinstance(i.callable, TileLoad)]) == 1


def test_what_a_loop_has_no_part_in_comes_before_it() -> None:
    """The greatest of a row and the sum are found once for all tiles of it."""
    i, j = (Var(name, INDEX_TYPE) for name in "ij")
    out = of((M, N), "f32")
    outer, inner = Var("outer", out), Var("inner", out)
    x = Var("x", out)
    at = Tuple((i, j))
    window = Call(Slice((4, 64), (1, 1), (), ("zero", "zero")), (Call(Softmax(-1), (x,)), at))
    tile = Call(Reshard(spread_over(THREADS, ROWS, m(L, 2)), StorageKind.RMEM), (window,))
    filled = Call(InsertSlice((4, 64), ("clip", "clip")), (inner, tile, at))
    columns = GridRegionExpr(j, (inner,), (outer,), None, (filled,), N, 64)
    rows_ = GridRegionExpr(i, (outer,), (Call(Zeros(out), ()),), None, (columns,), M, 4, spread=MeshAxis(GRID, 0))
    topologies = (*GRID.topologies, *THREADS.topologies)
    target = CudaTarget("nvidia.h200_sxm")
    module = Module("P", (Function("f", (x,), rows_, out),), "f", target=target, topologies=topologies)
    (kernel,) = lower(module).functions
    assert isinstance(kernel, PrimFunction)
    loops = [item for item in items_within(unfold(kernel.body)) if isinstance(item, For)]
    nested = [sum(isinstance(item, For) for item in items_within(unfold(loop.body))) for loop in loops]
    assert nested == [3, 0, 0, 0]  # of rows: the greatest, the sum, and the tiles
    torch.manual_seed(0)
    compare(module, torch.randn(9, 300), bounds=[AllClose(1e-5, 1e-5)])


def searches(dtype: str, columns: object) -> Module:
    def build(x: Expr) -> list[Tiled]:
        return [
            Tiled(Call(ArgMax(1), (x,)), (ROWS,)),
            Tiled(Call(ArgMin(1), (x,)), (ROWS,)),
            Tiled(Call(ArgMax(0), (Call(Unary(UnaryKind.NEG), (x,)),)), (m(L),)),
        ]

    return program([of((M, columns), dtype)], build)


@pytest.mark.parametrize(("dtype", "columns"), [("f32", N), ("i32", 300)])
def test_searches_find_the_first_of_equals_and_nan(dtype: str, columns: object) -> None:
    torch.manual_seed(0)
    x = torch.randint(-9, 9, (12, 300)).to(TORCH[dtype])
    if dtype == "f32":
        x[3, 250] = x[3, 17] = x[5, 299] = math.nan
        x[6] = -math.inf
    compare(searches(dtype, columns), x, bounds=[Equal()])
