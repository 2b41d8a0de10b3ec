"""Attention and rotary embedding against torch."""

from __future__ import annotations

import itertools

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.attention import attention as evaluation
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, results
from tilefoundry.ir.types import DType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
# batch, query heads, key heads, queries, keys, width, value width
SIZES = [
    (2, 4, 2, 5, 5, 8, 8), (1, 4, 4, 3, 7, 8, 6), (2, 4, 1, 1, 9, 16, 8), (1, 2, 2, 6, 3, 8, 8), (1, 1, 1, 1, 1, 1, 1),
    (0, 2, 1, 3, 3, 4, 4), (1, 2, 2, 0, 3, 4, 4), (1, 2, 2, 3, 0, 4, 4), (1, 2, 2, 3, 3, 4, 0),
]  # fmt: skip


def qkv(size: tuple[int, ...], dtype: DType) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batch, heads, key_heads, queries, keys, width, value_width = size
    torch.manual_seed(sum(size))
    shapes = ((batch, heads, queries, width), (batch, key_heads, keys, width), (batch, key_heads, keys, value_width))
    q, k, v = (torch.randn(shape).to(torch_dtype(dtype)) for shape in shapes)
    return q, k, v


def near(value: torch.Tensor, exact: torch.Tensor) -> None:
    """The f64 result, rounded once from what was computed in f32 (f64)."""
    computed = torch.float32 if value.dtype.itemsize < 8 else torch.float64
    bound = torch.finfo(value.dtype).eps / 2 + 32 * torch.finfo(computed).eps
    torch.testing.assert_close(value.double(), exact, rtol=bound, atol=bound)


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, scale: float | None):  # type: ignore[no-untyped-def]
    """torch's, in f64; a query that attends to nothing gives zeros."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(group, 1) for x in (k, v))
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.double()
    result = torch.nn.functional.scaled_dot_product_attention(q.double(), k, v, attn_mask=mask, scale=scale)
    return result.nan_to_num(0.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_attention(size: tuple[int, ...], dtype: DType) -> None:
    q, k, v = qkv(size, dtype)
    queries, keys = size[3:5]
    seen = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    for scale in (None, 0.3):
        near(apply("attention", q, k, v, scale=scale), reference(q, k, v, None, scale))
        near(apply("attention", q, k, v, scale=scale, causal=True), reference(q, k, v, seen, scale))
        exact = apply("attention", q, k, v, scale=scale, causal=True, precision="f64")
        torch.testing.assert_close(exact, reference(q, k, v, seen, scale), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_masks(dtype: DType, causal: bool) -> None:
    size = (2, 4, 2, 5, 7, 8, 8)
    q, k, v = qkv(size, dtype)
    seen = torch.ones(5, 7, dtype=torch.bool).tril(2) if causal else torch.ones(5, 7, dtype=torch.bool)
    for shape in ((5, 7), (7,), (5, 1), (2, 1, 1, 7), (2, 4, 5, 7), (4, 5, 7), (1, 4, 1, 1), ()):
        may = torch.rand(shape) > 0.4
        near(apply("attention", q, k, v, may, causal=causal), reference(q, k, v, may & seen, None))
        added = torch.randn(shape).to(torch_dtype(dtype))
        both = torch.where(seen, added.double(), float("-inf"))
        near(apply("attention", q, k, v, added, causal=causal), reference(q, k, v, both, None))


def test_queries_that_attend_to_nothing_give_zeros() -> None:
    q, k, v = qkv((1, 2, 2, 6, 3, 8, 8), DType.f32)
    value = apply("attention", q, k, v, causal=True)
    assert (value[:, :, :3] == 0).all()  # the last query sees all three keys, the fourth from the end none
    assert_same(value[:, :, 3], v[:, :, 0])
    assert (apply("attention", q, k, v, torch.zeros(6, 3, dtype=torch.bool)) == 0).all()


def test_the_last_query_of_a_decoder_sees_the_whole_cache() -> None:
    q, k, v = qkv((1, 4, 2, 1, 9, 8, 8), DType.f64)
    assert_same(apply("attention", q, k, v, causal=True), apply("attention", q, k, v))
    long = torch.cat((torch.randn(1, 4, 8, 8, dtype=torch.float64), q), 2)
    assert_same(apply("attention", long, k, v, causal=True)[:, :, -1:], apply("attention", q, k, v), 1e-15)


@pytest.mark.parametrize("dtype", [DType.f32, DType.bf16], ids=str)
def test_for_each_participant(dtype: DType) -> None:
    q, k, v = (torch.stack((x, -x, x + 1)) for x in qkv((1, 4, 2, 3, 5, 8, 8), dtype))
    tolerance = 4 * torch.finfo(q.dtype).eps
    apply_to_each("attention", q, k, v, causal=True, tolerance=tolerance)
    apply_to_each("attention", q, k, v, torch.rand(3, 3, 5) > 0.5, tolerance=tolerance)
    table, ids = torch.randn(3, 9, 8).to(q.dtype), torch.tensor([[0, 1, 8, 2], [3, 4, 5, 6], [7, 7, 7, 7]])
    apply_to_each("rope", q[:, 0], k[:, 0, :1].repeat_interleave(4, 1), table, table + 1, ids)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """In f64, by complex numbers: the pair of halves is multiplied by cos + i sin."""
    half = x.shape[-1] // 2
    pair = torch.complex(x.double()[..., :half], x.double()[..., half:])
    c, s = (t.double()[ids.flatten().long()].unsqueeze(1) for t in (cos, sin))
    low = pair.real * c[..., :half] - pair.imag * s[..., :half]
    high = pair.imag * c[..., half:] + pair.real * s[..., half:]
    return torch.cat((low, high), -1)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("table", ["own", "f32"])
def test_rope(dtype: DType, table: str) -> None:
    torch.manual_seed(0)
    kind = torch_dtype(dtype if table == "own" else DType.f32)
    for (batch, length, heads, key_heads, width), index in itertools.product(
        ((2, 5, 4, 2, 8), (1, 1, 1, 1, 2), (3, 6, 2, 2, 4), (1, 0, 2, 1, 8)), (torch.int32, torch.int64)
    ):
        q, k = (torch.randn(batch, length, h, width).to(torch_dtype(dtype)) for h in (heads, key_heads))
        cos, sin = (torch.randn(11, width).to(kind) for _ in range(2))
        ids = torch.randint(0, 11, (length,), dtype=index)
        for given in (ids, ids.reshape(1, length)):
            for value, x in zip(results("rope", q, k, cos, sin, given), (q, k), strict=True):
                near(value, rotated(x, cos, sin, ids))
    q, k = torch.randn(6, 2, 4).to(torch_dtype(dtype)), torch.randn(6, 1, 4).to(torch_dtype(dtype))
    cos, sin, ids = torch.randn(9, 4).to(kind), torch.randn(9, 4).to(kind), torch.randint(0, 9, (2, 3))
    for value, x in zip(results("rope", q, k, cos, sin, ids, precision="f64"), (q, k), strict=True):
        torch.testing.assert_close(value, rotated(x, cos, sin, ids), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("position", [-1, 9])
def test_rope_refuses_positions_outside_of_the_caches(position: int) -> None:
    x, table, ids = torch.randn(1, 1, 1, 4), torch.randn(9, 4), torch.tensor([position])
    with pytest.raises(EvalError, match=f"rope: index {position} is out of range for axis 0 of extent 9"):
        results("rope", x, x, table, table, ids)


def test_long_sequences_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = qkv((2, 4, 2, 10, 7, 8, 8), DType.f64)
    mask = torch.rand(4, 10, 7) > 0.4
    whole = apply("attention", q, k, v, mask, causal=True)
    monkeypatch.setattr(evaluation, "_SCORES_AT_ONCE", 2 * 4 * 7 * 3)
    assert_same(apply("attention", q, k, v, mask, causal=True), whole, 1e-15)
