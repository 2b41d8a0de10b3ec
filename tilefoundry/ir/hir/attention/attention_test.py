"""Types of attention and of rotary embedding."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Attention, Rope
from tilefoundry.ir.samples import GROUP, QUAD, W, call, held, value
from tilefoundry.ir.shard import Broadcast, Layout, Placed, Split

B, S, T = DimVar("B", 1, 100), DimVar("S", 1, 100), DimVar("T", 1, 100)


def qkv(dtype="bf16", heads=8, key_heads=2, width=64, value_width=32):
    return (
        value((B, heads, S, width), dtype),
        value((B, key_heads, T, width), dtype),
        value((B, key_heads, T, value_width), dtype),
    )


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("key_heads", [1, 2, 8])
def test_attention_shapes(dtype, key_heads):
    assert call(Attention(), *qkv(dtype, key_heads=key_heads)).type == value((B, 8, S, 32), dtype).type
    for mask in ((S, T), (T,), (1, T), (B, 8, S, T), (B, 1, 1, T), (8, S, 1), ()):
        for kind in ("bool", dtype, "f32"):
            assert call(Attention(), *qkv(dtype, key_heads=key_heads), value(mask, kind)).type.shape == (B, 8, S, 32)


def test_attention_of_symbolic_heads():
    heads = DimVar("H", 1, 9)
    q = value((B, 4 * heads, S, 8))
    assert call(Attention(), q, value((B, heads, T, 8)), value((B, heads, T, 8))).type == q.type


def test_attention_placements():
    by_head = held((2, 8, 16, 64), 2, Placed(4, (W,)), 2, 16, 64)
    same = call(Attention(), by_head, by_head, by_head).type
    assert (same.shape, same.layout.attrs[0]) == ((2, 8, 16, 64), Split(1))
    grouped = call(Attention(), by_head, *[held((2, 4, 16, 64), 2, Placed(4, (W,)), 16, 64)] * 2).type
    assert (grouped.shape, grouped.layout.shape) == ((2, 8, 16, 64), (2, 4, 2, 16, 64))
    assert grouped.layout.attrs == (Split(1), Broadcast(), Broadcast())
    # queries in rows over one mesh axis, keys over another, which the op combines
    rows = held((2, 8, 16, 64), 2, 8, Placed(8, (GROUP,)), 2, 64)
    keys = held((2, 8, 16, 64), 2, 8, Placed(4, (QUAD,)), 4, 64)
    assert call(Attention(), rows, keys, keys).type.layout.attrs == (Broadcast(), Split(2), Broadcast())
    mask = held((16, 16), Placed(8, (GROUP,)), 2, Placed(4, (QUAD,)), 4, dtype="bool")
    assert call(Attention(), rows, keys, keys, mask).type.shape == (2, 8, 16, 64)


def test_attention_of_tensors_with_plain_layouts():
    q, k = held((2, 8, 16, 64), 2, 8, 16, 64), held((2, 2, 16, 64), 2, 2, 16, 64)
    assert call(Attention(), q, k, k).type.layout == Layout((2, 8, 16, 64), (8192, 1024, 64, 1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Attention(), *qkv()[:2]), r"expected at least 3 operand\(s\)"),
        (lambda: call(Attention(), value((8, S, 64)), *qkv()[1:]), "'q' must have rank 4"),
        (lambda: call(Attention(), qkv("f32")[0], *qkv()[1:]), "'q' and 'k' have dtypes f32 and bf16"),
        (lambda: call(Attention(), *qkv("i32")), "must be of f16, bf16, f32 or f64, got i32"),
        (lambda: call(Attention(), *qkv(key_heads=3)), "8 heads of 'q' must be a multiple of the 3 of 'k'"),
        (lambda: call(Attention(), *qkv(heads=0, key_heads=0)), "must be a multiple of the 0"),
        (lambda: call(Attention(), qkv()[0], qkv(width=32)[1], qkv()[2]), "widths of 'q' and 'k' must be equal"),
        (lambda: call(Attention(), *qkv()[:2], value((B, 4, T, 32), "bf16")), "heads of 'k' and 'v' must be equal"),
        (lambda: call(Attention(), *qkv()[:2], value((B, 2, S, 32), "bf16")), "cannot prove it for T and S"),
        (lambda: call(Attention(), value((2, 8, S, 64), "bf16"), *qkv()[1:]), "batches of 'q' and 'k'"),
        (lambda: call(Attention(), *qkv(), value((S, T), "i32")), "'mask' must be of bool, bf16 or f32"),
        (lambda: call(Attention(), *qkv(), value((T, S), "bool")), "'mask' must broadcast to .* at axis -2"),
        (lambda: call(Attention(), *qkv(), value((1, B, 8, S, T), "bool")), "drop its leading axes"),
        (lambda: call(Attention(), *qkv(), value((2, S, T), "bool")), "2 against 8 at axis -3"),
        (lambda: call(Attention(), *qkv(), value((S, T), "bool", "smem")), "conflicting storage"),
        (lambda: Attention(scale="x"), "scale must be a number"),
        (lambda: Attention(scale=float("inf")), "scale must be finite"),
        (lambda: Attention(causal=1), "causal must be a bool"),
    ],
)
def test_attention_refusals(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()


def rope(q=(B, S, 8, 64), k=(B, S, 2, 64), cos=(T, 64), sin=(T, 64), ids=(S,), dtype="bf16", table="bf16", index="i32"):
    return call(Rope(), value(q, dtype), value(k, dtype), value(cos, table), value(sin, table), value(ids, index))


def test_rope():
    for dtype in ("f64", "f32", "f16", "bf16"):
        for table in (dtype, "f32"):
            expected = value((B, S, 8, 64), dtype).type, value((B, S, 2, 64), dtype).type
            assert rope(dtype=dtype, table=table).type.fields == expected
    assert rope(ids=(1, S), index="i64").type.fields[0].shape == (B, S, 8, 64)
    assert rope((6, 8, 64), (6, 2, 64), ids=(2, 3)).type.fields[1].shape == (6, 2, 64)


def test_rope_placements():
    q = held((16, 8, 64), 16, Placed(4, (W,)), 2, 64)
    table, ids = held((32, 64), 32, 64), held((16,), 16, dtype="i32")
    assert [t.layout.attrs[0] for t in call(Rope(), q, q, table, table, ids).type.fields] == [Split(1)] * 2
    long = held((16, 8, 64), Placed(4, (W,)), 4, 8, 64)
    along = held((16,), Placed(4, (W,)), 4, dtype="i32")
    for positions in (along, ids):
        assert call(Rope(), long, long, table, table, positions).type.fields == (long.type, long.type)
    for operands, words in (
        ((held((16, 8, 64), 16, 8, Placed(4, (W,)), 16), q, table, table, ids), "'q' is split .* cannot be rotated"),
        ((q, q, held((32, 64), Placed(4, (W,)), 8, 64), table, ids), "'cos_cache' is split .* cannot be gathered"),
    ):
        with pytest.raises(VerifyError, match=words):
            call(Rope(), *operands)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"q": (S, 64)}, r"'q' must have the shape \(\.\.\., length, heads, width\)"),
        ({"q": (B, S, 8, 63), "k": (B, S, 2, 63)}, "known to be even"),
        ({"k": (B, S, 2, 32)}, "widths of 'q' and 'k'"),
        ({"k": (B, T, 2, 64)}, "lengths of 'q' and 'k'"),
        ({"cos": (64,)}, r"'cos_cache' must have the shape \(positions, width\)"),
        ({"sin": (T, 32)}, "widths of 'q' and 'sin_cache'"),
        ({"sin": (S, 64)}, "positions of both caches"),
        ({"table": "f16"}, "'cos_cache' must be of bf16, as 'q', or of f32, got f16"),
        ({"dtype": "i32"}, "must be of f16"),
        ({"index": "f32"}, "'pos_ids' must be of integers"),
        ({"ids": (T,)}, "number of 'pos_ids'"),
        ({"ids": (2, S)}, "number of 'pos_ids'"),
    ],
)
def test_rope_refusals(given, words):
    with pytest.raises(VerifyError, match=words):
        rope(**given)
