"""Elementwise ops against torch: dtypes, ranks, empty and 1-extents, broadcasting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.hir import BinaryKind, UnaryKind
from tilefoundry.ir.types import DType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
BYTES = [DType.fp8e4m3, DType.fp8e5m2]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]

PAIRS = [
    ((), ()), ((5,), (5,)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (1, 1)), ((0,), (1,)), ((2, 0, 3), (3,)),
    ((), (2, 3)), ((1, 4), (3, 4)),
]  # fmt: skip
Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
ARITHMETIC: dict[str, Binary] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "minimum": torch.minimum, "maximum": torch.maximum,
    "min": torch.minimum, "max": torch.maximum, "cmp_eq": torch.eq, "cmp_ne": torch.ne, "cmp_lt": torch.lt,
    "cmp_le": torch.le, "cmp_gt": torch.gt, "cmp_ge": torch.ge,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_binary(name: str, dtype: DType) -> None:
    for a, b in [*PAIRS, *((b, a) for a, b in PAIRS)]:
        x, y = sample(a, dtype, 1), sample(b, dtype, 2)
        assert_same(apply(name, x, y), ARITHMETIC[name](x, y))


@pytest.mark.parametrize("dtype", BYTES, ids=str)
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "cmp_lt", "cmp_eq", "div"])
def test_8_bit_floats_are_computed_in_f32_and_rounded_once(name: str, dtype: DType) -> None:
    for a, b in PAIRS:
        x, y = sample(a, dtype, 1), sample(b, dtype, 2)
        expected = {**ARITHMETIC, "div": torch.div}[name](x.float(), y.float())
        assert_same(apply(name, x, y), expected if expected.dtype == torch.bool else expected.to(x.dtype))


def test_ops_by_kind() -> None:
    x, y = sample((3, 4), DType.f32, 1), sample((4,), DType.f32, 2)
    assert_same(apply("binary", x, y, kind=BinaryKind.SUB), x - y)
    assert_same(apply("unary", x, kind=UnaryKind.NEG), -x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_pow(dtype: DType) -> None:
    for a, b in PAIRS:
        x, y = sample(a, dtype, 1), sample(b, dtype, 2)
        assert_same(apply("pow", x, y), torch.pow(x, y))  # of negative bases as well: NaN unless y is whole
        assert_same(apply("pow", x, y, precision="f64"), torch.pow(x.double(), y.double()))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_division(dtype: DType) -> None:
    for a, b in PAIRS:
        x, y = sample(a, dtype, 1), sample(b, dtype, 2)
        assert_same(apply("div", x, y), x / y)  # by zero as well: infinities and NaN


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_integer_division_rounds_down(dtype: DType) -> None:
    for a, b in PAIRS:
        x, y = sample(a, dtype, 1), sample(b, dtype, 2)
        y = torch.where(y == 0, torch.ones_like(y), y)
        assert_same(apply("floor_div", x, y), torch.floor_divide(x, y))
        assert_same(apply("mod", x, y), torch.remainder(x, y))


@pytest.mark.parametrize("name", ["floor_div", "mod"])
def test_integer_division_by_zero_is_refused(name: str) -> None:
    with pytest.raises(EvalError, match=f"{name}: division by zero"):
        apply(name, torch.ones(3, dtype=torch.int32), torch.tensor([1, 0, 2], dtype=torch.int32))
    assert apply(name, torch.ones(0, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)).shape == (0,)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "cmp_eq", "cmp_ne"])
def test_logic(name: str) -> None:
    known: dict[str, Binary] = {
        "logical_and": torch.logical_and, "logical_or": torch.logical_or, "cmp_eq": torch.eq, "cmp_ne": torch.ne,
    }  # fmt: skip
    for a, b in PAIRS:
        x, y = sample(a, DType.bool, 1), sample(b, DType.bool, 2)
        assert_same(apply(name, x, y), known[name](x, y))


UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "neg": torch.neg, "abs": torch.abs, "square": torch.square, "relu": torch.relu, "exp": torch.exp,
    "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "rsqrt": torch.rsqrt, "ceil": torch.ceil,
    "round": torch.round, "floor": torch.floor, "log1p": torch.log1p, "sqrt": torch.sqrt, "sin": torch.sin,
    "cos": torch.cos, "erf": torch.erf, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "isnan": torch.isnan,
    "isinf": torch.isinf,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        assert_same(apply(name, x), UNARY[name](x))
        assert_same(apply(name, x, precision="f64"), UNARY[name](x.double()))
    x = torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0]).to(torch_dtype(dtype))
    assert_same(apply(name, x), UNARY[name](x))


@pytest.mark.parametrize("dtype", BYTES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_of_8_bit_floats(name: str, dtype: DType) -> None:
    x = sample((3, 4), dtype)
    expected = UNARY[name](x.float())
    assert_same(apply(name, x), expected if expected.dtype == torch.bool else expected.to(x.dtype))


@pytest.mark.parametrize("dtype", [DType.i64, DType.i32, DType.i16, DType.i8], ids=str)
@pytest.mark.parametrize("name", ["neg", "abs", "square", "relu"])
def test_unary_on_integers(name: str, dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        assert_same(apply(name, x), UNARY[name](x))


def test_round_is_half_to_even() -> None:
    x = torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
    assert_same(apply("round", x), torch.tensor([-2.0, -2.0, -0.0, 0.0, 2.0, 2.0]))


def test_not() -> None:
    x = torch.tensor([True, False])
    assert_same(apply("logical_not", x), ~x)


@pytest.mark.parametrize("source", [*FLOATS, DType.i64, DType.i32, DType.i8, DType.bool], ids=str)
@pytest.mark.parametrize(
    "target", [*FLOATS, DType.i64, DType.i32, DType.i8, DType.bool, DType.fp8e4m3, DType.fp8e5m2], ids=str
)
def test_cast(source: DType, target: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, source)
        value = apply("cast", x, dtype=target.name)
        assert_same(value.float(), x.to(torch_dtype(target)).float())


def test_fp8e4m3_saturates_and_fp8e5m2_has_infinities() -> None:
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([448.0, 464.0, 465.0, -1000.0, 1e5, inf, -inf, nan])
    assert_same(apply("cast", x, dtype="fp8e4m3").float(), torch.tensor([448, 448, 448, -448, 448, 448, -448, nan]))
    assert_same(apply("cast", x, dtype="fp8e5m2").float(), torch.tensor([448, 448, 448, -1024, inf, inf, -inf, nan]))


@pytest.mark.parametrize("source", [torch.float64, torch.float32, torch.bfloat16, torch.float8_e5m2], ids=str)
@pytest.mark.parametrize("target", [torch.int64, torch.int32, torch.int8, torch.uint8], ids=str)
def test_casts_to_integers_saturate(source: torch.dtype, target: torch.dtype) -> None:
    inf, nan, ends = float("inf"), float("nan"), torch.iinfo(target)
    given = torch.tensor([nan, inf, -inf, 3e38, -3e38, 2.0**63, -(2.0**63), 2.0**31, -(2.0**31), 300, -1.5, 2.7, 0])
    x = given.to(source)
    exact = [0 if v != v else ends.max if v == inf else ends.min if v == -inf else int(v) for v in x.tolist()]
    expected = torch.tensor([min(max(v, ends.min), ends.max) for v in exact], dtype=target)
    name = {torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.uint8: "u8"}[target]
    assert_same(apply("cast", x, dtype=name), expected)


def test_cast_to_a_type_without_torch_dtype() -> None:
    with pytest.raises(EvalError, match="f4e2m1"):
        apply("cast", torch.zeros(2), dtype="f4e2m1")


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, DType.bool], ids=str)
def test_where(dtype: DType) -> None:
    for c, a, b in (((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((), (2, 3), (3,)), ((0, 1), (5,), (1, 5))):
        cond, x, y = sample(c, DType.bool, 3), sample(a, dtype, 1), sample(b, dtype, 2)
        assert_same(apply("where", cond, x, y), torch.where(cond, x, y))


def test_cast_to_powers_of_two() -> None:
    x = torch.tensor([0.3, 1.0, 3.7, 100.0])
    assert_same(apply("cast", x, dtype="f8e8m0").float(), torch.tensor([0.25, 1.0, 4.0, 128.0]))
    assert_same(
        apply("cast", x.to(torch.float8_e8m0fnu), dtype="bf16"), torch.tensor([0.25, 1.0, 4.0, 128.0]).bfloat16()
    )


@pytest.mark.parametrize("source", [torch.float8_e8m0fnu, torch.float8_e5m2], ids=str)
def test_a_cast_from_another_format_of_8_bits_to_fp8e4m3_saturates(source: torch.dtype) -> None:
    x = torch.tensor([0.25, 2.0, 1024.0]).to(source)
    assert_same(apply("cast", x, dtype="fp8e4m3").float(), torch.tensor([0.25, 2.0, 448.0]))


def test_a_cast_between_floats_does_not_round_in_f64() -> None:
    x = torch.randn(5, dtype=torch.float64)
    for dtype in ("bf16", "f16", "f32", "fp8e4m3", "f8e8m0"):
        assert_same(apply("cast", x, dtype=dtype, precision="f64"), x)
    assert_same(apply("cast", x * 9, dtype="i32", precision="f64"), (x * 9).int())


def test_full_like() -> None:
    for shape in SHAPES:
        for dtype, number in ((DType.bf16, -1.5), (DType.i8, 7), (DType.bool, True), (DType.fp8e4m3, 0.5)):
            expected = torch.full(shape, number, dtype=torch_dtype(dtype))
            assert_same(apply("full_like", sample(shape, dtype), value=number), expected)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
def test_clamp(dtype: DType) -> None:
    for low, high in ((-2, 2), (1, 3), (3, 1)):
        for shape in SHAPES:
            x = sample(shape, dtype)
            if dtype is not DType.u8 or low >= 0:
                assert_same(apply("clamp", x, min_val=low, max_val=high), torch.clamp(x, low, high))
    if dtype.is_float:
        x = torch.tensor([float("nan"), float("inf"), -1.0]).to(torch_dtype(dtype))
        assert_same(apply("clamp", x, min_val=0.1, max_val=float("inf")), torch.clamp(x, 0.1, float("inf")))


@pytest.mark.parametrize("dtype", BYTES, ids=str)
def test_clamp_of_8_bit_floats(dtype: DType) -> None:
    x = sample((3, 4), dtype)
    assert_same(apply("clamp", x, min_val=-1.0, max_val=2.0), x.float().clamp(-1, 2).to(x.dtype))


F = torch.nn.functional
ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "softplus": F.softplus, "silu": F.silu, "relu": F.relu, "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "sigmoid": F.sigmoid, "tanh": F.tanh,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, dtype: DType) -> None:
    for shape in SHAPES:
        for scale in (1, 8, 64):
            x = sample(shape, dtype) * scale
            exact = ACTIVATIONS[name](x.double())
            value = apply(name, x)
            # in f32, whose error is far below that of the one rounding; softplus adds 1 + exp(x), relu is exact
            computed = torch.finfo(torch.float32 if value.dtype.itemsize < 8 else torch.float64).eps
            bound = torch.finfo(value.dtype).eps / 2 + 16 * computed
            torch.testing.assert_close(
                value.double(), exact, rtol=bound, atol=torch.finfo(value.dtype).tiny + 2 * computed
            )
            assert_same(apply(name, x, precision="f64"), exact)


def test_gelu_by_the_error_function() -> None:
    x = torch.linspace(-6, 6, 101, dtype=torch.float64)
    assert_same(apply("gelu", x, approximate="none"), F.gelu(x))
    assert (apply("gelu", x) - F.gelu(x)).abs().max() > 1e-5  # the two differ
    far = torch.tensor([float("inf"), 3.4e38, 101.0, 99.0])
    for dtype in (torch.float32, torch.bfloat16):
        assert_same(apply("gelu", far.to(dtype), approximate="none"), far.to(dtype))


@pytest.mark.parametrize("dtype", [DType.f32, DType.bf16], ids=str)
def test_for_each_participant(dtype: DType) -> None:
    x, y = sample((3, 4, 8), dtype), sample((3, 8), dtype, 1)
    for name in (*ARITHMETIC, "div", "pow"):
        apply_to_each(name, x, y)
    for name in (*UNARY, *ACTIVATIONS):
        apply_to_each(name, x)
    apply_to_each("clamp", x, min_val=-1.0, max_val=1.0)
    apply_to_each("cast", x, dtype="f16")
    apply_to_each("full_like", x, value=2.0)
    apply_to_each("where", x > 0, x, x * 2)
    for name in ("floor_div", "mod"):
        apply_to_each(name, x.int(), y.int().clamp(min=1))
    for name in ("logical_and", "logical_or"):
        apply_to_each(name, x > 0, y > 0)
    apply_to_each("logical_not", x > 0)
