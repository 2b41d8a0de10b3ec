"""cache_update against a slice write of torch; at run time, positions out of range are refused."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType
from tilefoundry.python import func


def scalar(value: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.tensor(value, dtype=dtype)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "fp8e4m3", "i8"])
@pytest.mark.parametrize(
    ("length", "given", "pos", "s"),
    [(8, 3, 2, 3), (8, 3, 5, 2), (8, 8, 0, 8), (1, 1, 0, 1), (8, 3, 8, 0), (4, 0, 2, 0)],
)
def test_against_a_slice_write(dtype, length, given, pos, s):
    cache = sample((2, length, 3, 4), DType.f32, 1).to(torch_dtype(DType.from_name(dtype)))
    new = sample((2, given, 3, 4), DType.f32, 2).to(cache.dtype)
    expected = cache.clone()
    expected[:, pos : pos + s] = new[:, :s]
    before = cache.clone()
    for kind in (torch.int32, torch.int64):
        value = apply("cache_update", cache, scalar(pos, kind), scalar(s, kind), new)
        assert_same(value.float(), expected.float())
    assert_same(cache.float(), before.float())


def test_exact_precision_does_not_round():
    cache, new = torch.zeros(1, 2, 1, 1), torch.ones(1, 1, 1, 1)
    value = apply("cache_update", cache, scalar(1), scalar(1), new, precision="f64")
    assert value.flatten().tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("pos", "s", "words"), [(-1, 1, "cur_pos = -1"), (7, 2, "exceed axis 1"), (0, 4, "s = 4")])
def test_positions_out_of_range_are_refused(pos, s, words):
    cache, new = torch.zeros(1, 8, 1, 1), torch.zeros(1, 3, 1, 1)
    with pytest.raises(EvalError, match=words) as caught:
        apply("cache_update", cache, scalar(pos), scalar(s), new)
    assert isinstance(caught.value, ValueError)


S = DimVar("S", 1, 9)


@func
def decode(
    cache: Tensor[(1, 16, 2, 4), "bf16"], pos: Tensor[(), "i32"], new: Tensor[(1, S, 2, 4), "bf16"]
) -> Tensor[(1, 16, 2, 4), "bf16"]:
    first = tf.cache_update(cache, pos, S, new)
    return tf.cache_update(first, 0, 1, new)


def test_in_a_program_literals_and_extents_are_positions():
    cache, new = torch.zeros(1, 16, 2, 4).bfloat16(), sample((1, 3, 2, 4), DType.bf16)
    expected = cache.clone()
    expected[:, 5:8] = new
    expected[:, :1] = new[:, :1]
    assert_same(evaluate(decode, cache, scalar(5), new), expected)


def test_under_vmap_each_participant_has_its_own_position():
    cache, new = torch.zeros(3, 1, 8, 1, 1), torch.ones(3, 1, 2, 1, 1)
    pos, s = torch.tensor([0, 3, 6], dtype=torch.int32), torch.tensor([2, 1, 2], dtype=torch.int32)
    values = apply_to_each("cache_update", cache, pos, s, new)
    assert [v.flatten().nonzero().flatten().tolist() for v in values] == [[0, 1], [3], [6, 7]]
    with pytest.raises(EvalError, match=r"cur_pos = \[0, 3, 7\]"):
        apply_to_each("cache_update", cache, torch.tensor([0, 3, 7], dtype=torch.int32), s, new)
