"""Ops that reduce, search or order an axis against torch: dtypes, ranks, empty and 1-extents, broadcasting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, results, sample
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import ArgMax, ReduceKind, TopK
from tilefoundry.ir.types import DType, TensorType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
BYTES = [DType.fp8e4m3, DType.fp8e5m2]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]

CASES = [((5,), (0,)), ((3, 4), (1,)), ((3, 4), (0, -1)), ((2, 3, 4), (-2,)), ((1, 4), (0,)), ((0, 4), (1,))]
Reduction = Callable[[torch.Tensor, tuple[int, ...], bool], torch.Tensor]


def product(x: torch.Tensor, axes: tuple[int, ...], keepdim: bool) -> torch.Tensor:
    dtype = x.dtype
    x = x.float() if dtype in (torch.float16, torch.bfloat16) else x
    for axis in sorted((axis % x.dim() for axis in axes), reverse=True):
        x = torch.prod(x, axis, keepdim, dtype=x.dtype)
    return x.to(dtype)


KNOWN: dict[ReduceKind, Reduction] = {
    ReduceKind.SUM: lambda x, axes, keepdim: torch.sum(x, axes, keepdim, dtype=x.dtype),
    ReduceKind.MAX: torch.amax,
    ReduceKind.MIN: torch.amin,
    ReduceKind.ABS_MAX: lambda x, axes, keepdim: torch.amax(x.abs(), axes, keepdim),
    ReduceKind.MEAN: torch.mean,
    ReduceKind.PROD: product,
}


@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
@pytest.mark.parametrize("kind", KNOWN)
def test_reduce(kind: ReduceKind, dtype: DType, keepdim: bool) -> None:
    if kind is ReduceKind.MEAN and not dtype.is_float:
        return  # refused by its type
    for shape, axes in CASES:
        x = sample(shape, dtype)
        assert_same(apply("reduce", x, axes=axes, keepdim=keepdim, kind=kind), KNOWN[kind](x, axes, keepdim))
        exact = KNOWN[kind](x.double() if dtype.is_float else x, axes, keepdim)
        assert_same(apply("reduce", x, axes=axes, keepdim=keepdim, kind=kind, precision="f64"), exact)


@pytest.mark.parametrize("dtype", BYTES, ids=str)
@pytest.mark.parametrize("kind", KNOWN)
def test_8_bit_floats_are_accumulated_in_f32(kind: ReduceKind, dtype: DType) -> None:
    x = sample((3, 4), dtype)
    expected = KNOWN[kind](x.float(), (1,), True).to(x.dtype)
    assert_same(apply("reduce", x, axes=(1,), kind=kind), expected)


def test_narrow_floats_are_rounded_once() -> None:
    x = torch.ones(1, 1000).half()
    x[0, 0] = 2048  # to which adding 1 in f16 changes nothing
    assert apply("reduce", x, axes=(1,), kind=ReduceKind.SUM).item() == torch.tensor(3047.0).half().item()
    y = torch.full((1, 3), 300.0).half()
    y[0, 2] = 2**-10
    assert apply("reduce", y, axes=(1,), kind=ReduceKind.PROD).item() == torch.tensor(90000 * 2**-10).half().item()


@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize(("kind", "known"), [(ReduceKind.ANY, torch.any), (ReduceKind.ALL, torch.all)])
def test_logic(kind: ReduceKind, known: Reduction, keepdim: bool) -> None:
    for shape, axes in CASES:
        x = sample(shape, DType.bool)
        assert_same(apply("reduce", x, axes=axes, keepdim=keepdim, kind=kind), known(x, axes, keepdim))


@pytest.mark.parametrize("dtype", [DType.f32, DType.i32], ids=str)
def test_reduce_over_nothing_gives_the_identity(dtype: DType) -> None:
    x = torch.zeros(3, 0).to(torch_dtype(dtype))
    ends = (float("-inf"), float("inf")) if dtype.is_float else (-(2**31), 2**31 - 1)
    for kind, identity in (
        (ReduceKind.SUM, 0), (ReduceKind.ABS_MAX, 0), (ReduceKind.PROD, 1), (ReduceKind.MAX, ends[0]),
        (ReduceKind.MIN, ends[1]),
    ):  # fmt: skip
        for keepdim, shape in ((True, (3, 1)), (False, (3,))):
            expected = torch.full(shape, identity, dtype=x.dtype)
            assert_same(apply("reduce", x, axes=(1,), keepdim=keepdim, kind=kind), expected)
    if dtype.is_float:
        assert apply("reduce", x, axes=(1,), keepdim=False, kind=ReduceKind.MEAN).isnan().all()
    for kind, truth in ((ReduceKind.ANY, False), (ReduceKind.ALL, True)):
        assert_same(apply("reduce", x.bool(), axes=(1,), kind=kind), torch.full((3, 1), truth))


ORDERED = [(5,), (1,), (3, 4), (1, 4), (2, 3, 4), (0, 3)]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_and_argmin(name: str, dtype: DType) -> None:
    for shape in ORDERED:
        x = sample(shape, dtype)
        for axis in range(-len(shape), len(shape)):
            if shape[axis]:
                value = apply(name, x, axis=axis)
                best = getattr(torch, name.replace("arg", "a"))(x, axis, True)
                # the first of equal ones
                firsts = (x == best).to(torch.uint8).argmax(axis)
                assert_same(value, firsts)


def test_searching_nothing_is_refused() -> None:
    rows = DimVar("N", 0, 9)
    x = Var("x", TensorType((2, rows), DType.f32))
    body = Call(ArgMax(), (x,))
    with pytest.raises(EvalError, match=r"argmax: axis 1 of a tensor of shape \(2, 0\) is empty"):
        evaluate(Function("f", (x,), body, body.type), torch.zeros(2, 0))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, *BYTES], ids=str)
def test_sort(dtype: DType) -> None:
    for shape in ORDERED:
        x = sample(shape, dtype)
        wide = x.float() if dtype in BYTES else x
        for axis in range(-len(shape), len(shape)):
            for descending in (False, True):
                values, places = results("sort", x, axis=axis, descending=descending)
                expected = torch.sort(wide, dim=axis, descending=descending, stable=True)
                assert_same(values, expected.values.to(x.dtype))
                assert_same(places, expected.indices)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, *BYTES], ids=str)
@pytest.mark.parametrize("largest", [True, False])
def test_topk(dtype: DType, largest: bool) -> None:
    for shape in ORDERED:
        x = sample(shape, dtype)
        wide = x.float() if dtype in BYTES else x
        for axis in range(len(shape)):
            for k in {0, 1, shape[axis] // 2, shape[axis]} if shape[axis] else {0}:
                values, places = results("topk", x, k=k, axis=axis, largest=largest)
                assert_same(values, torch.topk(wide, k, axis, largest).values.to(x.dtype))
                assert_same(wide.gather(axis, places).to(x.dtype), values)
                loose, _ = results("topk", x, k=k, axis=axis, largest=largest, sorted=False)
                assert_same(loose.double().sort(axis, largest).values, values.double())


@pytest.mark.parametrize("ordered", [True, False])
def test_topk_takes_the_first_of_equal_elements(ordered: bool) -> None:
    nan = float("nan")
    x = torch.tensor([[0.0] * 6, [1, 2, 2, 1, 2, 1], [1, nan, 3, nan, 3, 1]])
    for largest, firsts in ((True, [[0, 1, 2], [1, 2, 4], [1, 3, 2]]), (False, [[0, 1, 2], [0, 3, 5], [0, 5, 2]])):
        for axis, given, expected in ((1, x, torch.tensor(firsts)), (0, x.T, torch.tensor(firsts).T)):
            values, places = results("topk", given, k=3, axis=axis, largest=largest, sorted=ordered)
            assert_same(places, expected)
            assert_same(values, given.gather(axis, expected))


def test_more_elements_than_there_are_are_refused() -> None:
    rows, k = DimVar("N", 1, 9), DimVar("K", 1, 9)
    x, y = Var("x", TensorType((2, rows), DType.f32)), Var("y", TensorType((k,), DType.f32))
    body = Call(TopK(k), (x,))
    function = Function("f", (x, y), body, body.type)
    values, _ = evaluate(function, torch.zeros(2, 4), torch.zeros(4))
    assert values.shape == (2, 4)
    with pytest.raises(EvalError, match=r"topk: k = 5, but axis 1 of a tensor of shape \(2, 4\) has 4 elements"):
        evaluate(function, torch.zeros(2, 4), torch.zeros(5))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
def test_cumsum(dtype: DType) -> None:
    for shape in (*ORDERED, (2, 0)):
        x = sample(shape, dtype)
        for axis in range(-len(shape), len(shape)):
            expected = torch.cumsum(x.double() if dtype.is_float else x, axis).to(x.dtype)
            assert_same(apply("cumsum", x, axis=axis), expected)  # the sums are exact in f32


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("group", [1, 4, 8])
def test_quant(dtype: DType, group: int) -> None:
    torch.manual_seed(group)
    for shape in ((8,), (3, 16), (2, 3, 8), (0, 8), (2, 0)):
        x = (torch.randn(shape) * 5).to(torch_dtype(dtype))
        if x.dim() == 2 and x.numel():
            x[0, :8] = 0
        q, scale = results("quant", x, group=group)
        groups = x.double().reshape(*shape[:-1], shape[-1] // group, group)
        greatest = groups.abs().amax(-1)
        exact = torch.where(greatest == 0, torch.ones_like(greatest), greatest / 448)
        torch.testing.assert_close(scale.double(), exact, rtol=2**-23, atol=0)
        held = q.double().reshape(groups.shape)
        assert (held.abs() <= 448).all()
        # 3 bits of mantissa: relative 2**-4, and absolute 2**-10 below the least normal number
        torch.testing.assert_close(held, groups / exact[..., None], rtol=2**-4, atol=2**-10)
        if x.numel():
            assert (held.abs().amax(-1)[greatest > 0] == 448).all()
        exactly, _ = results("quant", x, group=group, precision="f64")
        torch.testing.assert_close(exactly.reshape(groups.shape), groups / exact[..., None], rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", [DType.f32, DType.bf16], ids=str)
def test_for_each_participant(dtype: DType) -> None:
    x = sample((3, 4, 8), dtype)
    for kind in KNOWN:
        apply_to_each("reduce", x, axes=(1,), keepdim=False, kind=kind)
        apply_to_each("reduce", x, axes=(0, -1), kind=kind)
    for kind in (ReduceKind.ANY, ReduceKind.ALL):
        apply_to_each("reduce", x > 0, axes=(1,), kind=kind)
    for name in ("argmax", "argmin", "sort", "cumsum"):
        apply_to_each(name, x, axis=0)
        apply_to_each(name, x)
    distinct = torch.randperm(96).reshape(3, 4, 8).to(x.dtype)
    apply_to_each("topk", distinct, k=2, axis=0)
    apply_to_each("quant", x, group=4)
