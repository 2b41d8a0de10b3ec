"""Each op against torch: dtypes, ranks, empty and 1-extents, broadcasting; run-time refusals."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.op import Op, op_names, schemas_named
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python import func

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]
PAIRS = [
    ((), ()), ((5,), (5,)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (1, 1)), ((0,), (1,)), ((2, 0, 3), (3,)),
    ((), (2, 3)), ((1, 4), (3, 4)),
]  # fmt: skip


torch.set_num_threads(1)  # the tensors are tiny


def sample(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> torch.Tensor:
    """Values of moderate size, negative ones and equal ones among them where the dtype has such."""
    generator = torch.Generator().manual_seed(seed)
    if dtype is DType.bool:
        return torch.rand(shape, generator=generator) > 0.5
    low = 0 if dtype is DType.u8 else -4
    if dtype.is_integer:
        return torch.randint(low, 5, shape, generator=generator).to(torch_dtype(dtype))
    return (torch.randint(-16, 17, shape, generator=generator) / 4).to(torch_dtype(dtype))


def apply(name: str, *inputs: torch.Tensor, precision: str = "declared", **attributes: object) -> torch.Tensor:
    """The value of one op on these inputs."""
    names = {value: key for key, value in TORCH.items()}
    params = tuple(Var(f"x{k}", TensorType(tuple(x.shape), names[x.dtype])) for k, x in enumerate(inputs))
    body = Call(schemas_named("tf", name)[0].build(**attributes), params)
    value = evaluate(Function("f", params, body, body.type), *inputs, precision=precision)
    assert isinstance(value, torch.Tensor)
    assert isinstance(body.type, TensorType)
    assert tuple(value.shape) == body.type.shape
    assert value.dtype == (
        torch.float64 if precision == "f64" and value.is_floating_point() else torch_dtype(body.type.dtype)
    )
    return value


def assert_same(value: torch.Tensor, expected: torch.Tensor) -> None:
    assert value.dtype == expected.dtype
    torch.testing.assert_close(value, expected, rtol=0, atol=0, equal_nan=True)


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


# -- windows


@pytest.mark.parametrize("extent", [1, 7, 8, 9, 30])
def test_tile_windows_read_zeros_and_write_nothing_beyond_the_end(extent: int) -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n, 3), "f32"], y: Tensor[(n, 3), "f32"]) -> Tensor[(n, 3), "f32"]:
        out = y
        for i in tile(n, 8):
            ones = tf.full_like(x[i], 1.0)
            out = tf.insert_slice(out, x[i + 2] - x[i + -3] + ones, (i, 0))
        return out

    x, y = torch.randn(extent, 3), torch.randn(extent, 3)
    later = torch.cat([x, torch.zeros(2, 3)])[2:]
    earlier = torch.cat([torch.zeros(3, 3), x])[:extent]
    kept = x.clone(), y.clone()
    value = evaluate(f, x, y)
    assert isinstance(value, torch.Tensor)
    assert_same(value, later - earlier + 1.0)
    assert_same(x, kept[0])
    assert_same(y, kept[1])


def test_run_time_window_out_of_range() -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n,), "f32"]) -> Tensor[(4,), "f32"]:
        y = tf.zeros(Tensor[(4,), "f32"])
        for i in range(3):
            y = y + x[i : i + 4]
        return y

    @func
    def g(x: Tensor[(n,), "f32"]) -> Tensor[(n,), "f32"]:
        y = x
        for i in range(3):
            y = tf.insert_slice(y, x[0:4], (i,))
        return y

    x = torch.arange(6.0)
    assert_same(evaluate(f, x), x[:4] + x[1:5] + x[2:6])  # type: ignore[arg-type]
    with pytest.raises(EvalError, match=r"Slice window exceeds axis 0: elements 2 to 5 of extent 5") as caught:
        evaluate(f, x[:5])
    assert caught.value.span is not None
    with pytest.raises(ValueError, match="insert_slice exceeds axis 0"):
        evaluate(g, x[:5])


def test_loops() -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n, n), "i64"], k: Tensor[(), "i64"]) -> Tensor[(n,), "i64"]:
        total = tf.zeros(Tensor[(n,), "i64"])
        count = tf.zeros(Tensor[(n,), "i64"])
        for i in range(1, n, 2):
            for j in range(i):
                total = total + x[i, :] * x[j, :] + i * 2 - j + k
                count = count + 1
        return total * count

    for size in (1, 2, 7):
        x = torch.randint(-5, 5, (size, size))
        total = torch.zeros(size, dtype=torch.int64)
        count = 0
        for i in range(1, size, 2):
            for j in range(i):
                total += x[i] * x[j] + i * 2 - j + 7
                count += 1
        assert_same(evaluate(f, x, 7), total * count)  # type: ignore[arg-type]


def test_writing_in_place_is_not_seen() -> None:
    """Loops that only write windows update one buffer; whoever else reads the values before and after keeps them."""

    @func
    def f(x: Tensor[(4, 2), "f32"]) -> tuple[Tensor[(4, 2), "f32"], Tensor[(4, 2), "f32"], Tensor[(4, 2), "f32"]]:
        base = tf.zeros(Tensor[(4, 2), "f32"])
        out = base
        for i in range(4):
            out = tf.insert_slice(out, x[i], (i, 0))
        again = out
        for i in range(2):
            row = base
            for j in range(2):  # 'base' is the same in each outer iteration
                row = tf.insert_slice(row, x[i : i + 1, j : j + 1] * 10.0, (i, j))
            again = again + row
        return base, out, again

    x = torch.arange(8.0).reshape(4, 2)
    base, out, again = evaluate(f, x)
    assert_same(base, torch.zeros(4, 2))
    assert_same(out, x)
    assert_same(again, x + torch.cat([x[:2] * 10.0, torch.zeros(2, 2)]))
    assert_same(x, torch.arange(8.0).reshape(4, 2))


def test_local_has_one_value_only_where_nothing_is_split() -> None:
    @func(topologies=(Topology("thread", 128),))
    def f(x: Tensor[(4, 2), "f32"]) -> Tensor[(4, 2), "f32"]:
        with Mesh(("thread",), (1, 128), ("a", "b")) as t:
            return tf.local(tf.reshard(x, (1 @ t.a, 4, 2), "rmem"))

    @func(topologies=(Topology("thread", 4),))
    def g(x: Tensor[(4, 2), "f32"]) -> Tensor[(1, 2), "f32"]:
        with Mesh(("thread",), (4,), ("w",)) as t:
            return tf.local(tf.reshard(x, (4 @ t.w, 2), "rmem"))

    x = torch.randn(4, 2)
    assert_same(evaluate(f, x), x)
    with pytest.raises(EvalError, match=r"S\(0\) along mesh axis 'w'") as caught:
        evaluate(g, x)
    assert caught.value.span is not None


# -- precision and inputs


def test_f64_neither_rounds_nor_returns_less() -> None:
    @func
    def f(x: Tensor[(64, 64), "bf16"]) -> Tensor[(64, 64), "bf16"]:
        y = tf.cast(tf.matmul(x, x, out_dtype="f32") * 0.1, "bf16")
        return tf.exp(y / 16.0) - tf.where(y > 0.3, y, -1e30)

    x = sample((64, 64), DType.bf16)
    y = (x.double() @ x.double()) * 0.1
    value = evaluate(f, x, precision="f64")
    torch.testing.assert_close(value, torch.exp(y / 16.0) - torch.where(y > 0.3, y, -1e30), rtol=1e-15, atol=0)


def test_inputs_are_validated() -> None:
    n, m = DimVar("n", 2, 10), DimVar("m", 1, 10)

    @func
    def f(x: Tensor[(n, 4), "f32"], y: Tensor[(n, m), "i32"], z: Tensor[(n * 2,), "f32"]) -> Tensor[(n, 4), "f32"]:
        return x

    good = (torch.zeros(3, 4), torch.zeros(3, 5, dtype=torch.int32), torch.zeros(6))
    assert evaluate(f, *good) is not good[0]
    bad: list[tuple[str, tuple[object, ...]]] = [
        (r"takes 3 input\(s\) \(x, y, z\), got 2", good[:2]),
        ("'x': expected dtype f32, got f64", (good[0].double(), *good[1:])),
        ("'x': expected rank 2", (torch.zeros(3), *good[1:])),
        ("'x' axis 1: expected extent 4, got 5", (torch.zeros(3, 5), *good[1:])),
        ("inconsistent binding of 'n': 3 by 'x' axis 0, 4 by 'y' axis 0", (good[0], torch.zeros(4, 5).int(), good[2])),
        (r"'z' axis 0: expected extent .* = 6, got 7", (*good[:2], torch.zeros(7))),
        (r"outside its envelope \[2, 10\)", (torch.zeros(1, 4), torch.zeros(1, 5).int(), torch.zeros(2))),
        ("expected a torch.Tensor of f32, got list", ([[0.0]], *good[1:])),
        ("more than one device: x: meta, y: cpu", (good[0].to("meta"), *good[1:])),
    ]
    for message, inputs in bad:
        with pytest.raises(EvalError, match=message):
            evaluate(f, *inputs)
    with pytest.raises(EvalError, match="more than one device"):
        evaluate(f, *good, device="meta")
    with pytest.raises(EvalError, match="unknown precision"):
        evaluate(f, *good, precision="f16")
    with pytest.raises(TypeError, match="expected a Function or a Module"):
        evaluate(lambda x: x, good[0])  # type: ignore[arg-type]


def test_scalar_inputs() -> None:
    @func
    def f(x: Tensor[(2,), "f32"], a: Tensor[(), "f32"], n: Tensor[(), "i32"]) -> Tensor[(2,), "f32"]:
        return x * a + tf.cast(n, "f32")

    x = torch.tensor([1.0, 2.0])
    assert_same(evaluate(f, x, 0.5, 3), x * 0.5 + 3)  # type: ignore[arg-type]
    assert_same(evaluate(f, x, torch.tensor(0.5), torch.tensor(3, dtype=torch.int32)), x * 0.5 + 3)  # type: ignore[arg-type]
    with pytest.raises(EvalError, match="expected a Python int"):
        evaluate(f, x, 0.5, 3.0)


def test_gradients_are_not_recorded() -> None:
    @func
    def f(x: Tensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
        return x * x

    value = evaluate(f, torch.ones(2, requires_grad=True))
    assert isinstance(value, torch.Tensor)
    assert not value.requires_grad


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
