"""Each op against torch: dtypes, ranks, empty and 1-extents, broadcasting; run-time refusals."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import ReduceKind
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.evaluator.testing import apply, assert_same, sample
from tilefoundry.ir.core.op import Op, op_names, schemas_named
from tilefoundry.ir.types import DType, TensorType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]
PAIRS = [
    ((), ()), ((5,), (5,)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (1, 1)), ((0,), (1,)), ((2, 0, 3), (3,)),
    ((), (2, 3)), ((1, 4), (3, 4)),
]  # fmt: skip


torch.set_num_threads(1)  # the tensors are tiny


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
    "round": torch.round,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        assert_same(apply(name, x), UNARY[name](x))


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


def test_cast_to_a_type_without_torch_dtype() -> None:
    with pytest.raises(EvalError, match="f4e2m1"):
        apply("cast", torch.zeros(2), dtype="f4e2m1")


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, DType.bool], ids=str)
def test_where(dtype: DType) -> None:
    for c, a, b in (((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((), (2, 3), (3,)), ((0, 1), (5,), (1, 5))):
        cond, x, y = sample(c, DType.bool, 3), sample(a, dtype, 1), sample(b, dtype, 2)
        assert_same(apply("where", cond, x, y), torch.where(cond, x, y))


def test_full_like_and_zeros_and_arange() -> None:
    for shape in SHAPES:
        assert_same(
            apply("full_like", sample(shape, DType.bf16), value=-1.5), torch.full(shape, -1.5, dtype=torch.bfloat16)
        )
        assert_same(apply("zeros", type=TensorType(shape, DType.i32)), torch.zeros(shape, dtype=torch.int32))
    for extent in (0, 1, 7):
        type_ = TensorType((extent,), DType.i64)
        assert_same(apply("arange", type=type_, start=3, step=-2), 3 - 2 * torch.arange(extent))


@pytest.mark.parametrize("dtype", [*FLOATS, DType.i32, DType.i64], ids=str)
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((0, 4), (4, 5)),
        ((3, 0), (0, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
    ],
    ids=str,
)
def test_matmul(dtype: DType, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = sample(shapes[0], dtype, 1), sample(shapes[1], dtype, 2)
    assert_same(apply("matmul", x, y), torch.matmul(x, y))


@pytest.mark.parametrize(("dtype", "out"), [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i8", "i32")])
def test_matmul_accumulates_in_out_dtype(dtype: str, out: str) -> None:
    x, y = sample((8, 300), DType.from_name(dtype), 1), sample((300, 8), DType.from_name(dtype), 2)
    wide = torch_dtype(DType.from_name(out))
    value = apply("matmul", x, y, out_dtype=out)
    assert_same(value, (x.double() @ y.double()).to(wide))  # every product and sum here is exact


@pytest.mark.parametrize("dtype", [DType.f32, DType.bf16, DType.i32, DType.bool], ids=str)
def test_reshape_and_transpose(dtype: DType) -> None:
    for old, new in (((2, 3, 4), (6, 4)), ((4,), (4, 1)), ((1,), ()), ((), (1, 1)), ((0, 3), (3, 0))):
        x = sample(old, dtype)
        assert_same(apply("reshape", x, new_shape=new), x.reshape(new))
    for shape in SHAPES:
        x = sample(shape, dtype)
        for perm in itertools.islice(itertools.permutations(range(len(shape))), 8):
            assert_same(apply("transpose", x, perm=perm), x.permute(perm).contiguous())


@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dtype", [*FLOATS, DType.i32, DType.i64], ids=str)
def test_reduce(dtype: DType, keepdim: bool) -> None:
    for shape, axes in (
        ((5,), (0,)),
        ((3, 4), (1,)),
        ((3, 4), (0, -1)),
        ((2, 3, 4), (-2,)),
        ((1, 4), (0,)),
        ((0, 4), (1,)),
    ):
        x = sample(shape, dtype)
        known = {
            ReduceKind.SUM: lambda: torch.sum(x, axes, keepdim, dtype=x.dtype),  # noqa: B023
            ReduceKind.MAX: lambda: torch.amax(x, axes, keepdim),  # noqa: B023
            ReduceKind.ABS_MAX: lambda: torch.amax(x.abs(), axes, keepdim),  # noqa: B023
            ReduceKind.MEAN: lambda: torch.mean(x, axes, keepdim),  # noqa: B023
        }
        for kind, expected in known.items():
            if kind is not ReduceKind.MEAN or dtype.is_float:
                assert_same(apply("reduce", x, axes=axes, keepdim=keepdim, kind=kind), expected())


def test_reduce_over_nothing_gives_the_identity() -> None:
    x = torch.zeros(3, 0)
    assert_same(apply("reduce", x, axes=(1,), keepdim=False, kind=ReduceKind.SUM), torch.zeros(3))
    assert_same(apply("reduce", x, axes=(1,), keepdim=False, kind=ReduceKind.ABS_MAX), torch.zeros(3))
    assert_same(apply("reduce", x, axes=(1,), keepdim=True, kind=ReduceKind.MAX), torch.full((3, 1), float("-inf")))
    assert apply("reduce", x, axes=(1,), keepdim=False, kind=ReduceKind.MEAN).isnan().all()
    assert_same(
        apply("reduce", x.int(), axes=(1,), keepdim=False, kind=ReduceKind.MAX),
        torch.full((3,), -(2**31), dtype=torch.int32),
    )


def test_every_op_has_an_evaluator() -> None:
    missing = {
        name for name in op_names("tf") for s in schemas_named("tf", name) if _op_class(s.build) not in EVALUATORS
    }
    assert not missing


def _op_class(build: object) -> type[Op]:
    if isinstance(build, type):
        return build
    closure = getattr(build, "__closure__", None) or ()
    return next(c.cell_contents for c in closure if isinstance(c.cell_contents, type))
