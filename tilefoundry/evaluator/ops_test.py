"""Ops that make tensors, products and views against torch; and that no op lacks an evaluator, or tests of it."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.evaluator.testing import apply, assert_same, sample
from tilefoundry.ir.core.op import Op, op_names, schemas_named
from tilefoundry.ir.types import DType, TensorType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]

# x[a:b], field k of what an op returns, m.axis: in the tests of whole programs
WRITTEN_WITHOUT_THEIR_NAME = {"slice", "tuple_get_item", "mesh_coordinate"}

torch.set_num_threads(1)  # the tensors are tiny


def test_zeros_and_arange() -> None:
    for shape in SHAPES:
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


def test_every_op_has_an_evaluator() -> None:
    missing = {
        name for name in op_names("tf") for s in schemas_named("tf", name) if _op_class(s.build) not in EVALUATORS
    }
    assert not missing


def test_every_op_is_tested() -> None:
    texts = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.rglob("*_test.py"))
    untested = {
        name
        for name in op_names("tf")
        for schema in schemas_named("tf", name)
        if not any(use in texts for use in (f'"{name}"', f"tf.{name}(", f"{_op_class(schema.build).__name__}("))
    }
    assert untested <= WRITTEN_WITHOUT_THEIR_NAME


def _op_class(build: object) -> type[Op]:
    if isinstance(build, type):
        return build
    closure = getattr(build, "__closure__", None) or ()
    return next(c.cell_contents for c in closure if isinstance(c.cell_contents, type))
