import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import CacheUpdate
from tilefoundry.ir.samples import GROUP, QUAD, W, call, number
from tilefoundry.ir.shard import (
    Dynamic,
    Partial,
    Placed,
    ShardLayout,
    layout_from_sugar,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import make_tensor_type

B, S, L = DimVar("B", 1, 9), DimVar("S", 1, 65), DimVar("L", 1, 4097)
POS, COUNT = (Var(name, make_tensor_type((), "i32")) for name in ("cur_pos", "s"))


def var(shape, dtype="bf16", storage="gmem"):
    return Var("x", make_tensor_type(shape, dtype, storage))


def placed(shape, *entries, states=()):
    sl = layout_from_sugar(entries, states)
    return Var("x", make_tensor_type(shape, "bf16", "rmem", with_strides(sl, per_unit_strides(sl))))


CACHE, NEW = var((2, 32, 4, 8)), var((2, 3, 4, 8))


@pytest.mark.parametrize(
    ("cache", "new", "pos", "s"),
    [
        (CACHE, NEW, POS, COUNT),
        (CACHE, NEW, 29, 3),
        (CACHE, NEW, Var("i", INDEX_TYPE), 2),
        (var((B, L, 4, 8)), var((B, S, 4, 8)), POS, S),
        (var((0, 32, 4, 8)), var((0, 0, 4, 8)), 0, 0),
    ],
)
def test_the_result_has_the_type_of_the_cache(cache, new, pos, s):
    assert call(CacheUpdate(), cache, pos, s, new).type == cache.type


def test_new_lies_as_the_cache_does():
    heads = (Placed(4, (W,)), Placed(8, (GROUP,)))
    cache, new = placed((2, 32, 4, 8), 2, 32, *heads), placed((2, 3, 4, 8), 2, 3, *heads)
    assert call(CacheUpdate(), cache, POS, COUNT, new).type == cache.type
    sums = ((QUAD, Partial("sum")),)
    cache, new = placed((2, 32, 4, 8), 2, 32, *heads, states=sums), placed((2, 3, 4, 8), 2, 3, *heads, states=sums)
    assert call(CacheUpdate(), cache, POS, COUNT, new).type == cache.type


def dynamic(t):
    sl = t.type.layout
    return Var("x", make_tensor_type(t.type.shape, "bf16", "rmem", ShardLayout(sl.layout, (Dynamic(),) * 3, sl.mesh)))


PLAIN, SMALL = placed((2, 32, 4, 8), 2, 32, Placed(4, (W,)), 8), placed((2, 4, 4, 8), 2, 4, Placed(4, (W,)), 8)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((var((32, 4, 8)), POS, COUNT, NEW), r"'cache' must have the four axes"),
        ((CACHE, POS, COUNT, var((2, 3, 4, 4))), "'cache' and 'new' along axis 3 must be equal: they are 8 and 4"),
        ((var((B, 32, 4, 8)), POS, COUNT, NEW), "axis 0 must be equal: cannot prove it for B and 2"),
        ((CACHE, POS, COUNT, var((2, 3, 4, 8), "f32")), "dtypes bf16 and f32"),
        ((CACHE, POS, COUNT, var((2, 3, 4, 8), "bf16", "smem")), "conflicting storage"),
        ((CACHE, var((1,), "i32"), COUNT, NEW), "'cur_pos' must be a scalar integer"),
        ((CACHE, POS, number(1.0), NEW), "'s' must be a scalar integer"),
        ((CACHE, -1, COUNT, NEW), "'cur_pos' is -1"),
        ((CACHE, POS, 4, NEW), "'s' is 4, but axis 1 of 'new' has 3"),
        ((CACHE, 30, 3, NEW), r"\[30, 33\) exceed axis 1 of 'cache', of extent 32"),
        ((CACHE, POS, 33, var((2, 40, 4, 8))), "exceed axis 1"),
        ((PLAIN, POS, COUNT, placed((2, 4, 4, 8), 2, 4, 4, Placed(4, (W,)), 2)), "placed diff"),
        ((PLAIN, POS, COUNT, placed((2, 4, 4, 8), 2, Placed(4, (W,)), 4, 8)), "axis 1 of 'new' is split"),
        ((placed((2, 32, 4, 8), 2, Placed(8, (GROUP,)), 4, 4, 8), POS, COUNT, SMALL), "axis 1 of 'cache' is split"),
        (
            (PLAIN, POS, COUNT, placed((2, 4, 4, 8), 2, 4, Placed(4, (W,)), 8, states=((QUAD, Partial("sum")),))),
            "cannot pass through",
        ),
        ((dynamic(PLAIN), POS, COUNT, SMALL), "Dynamic"),
        ((CACHE, POS, COUNT), "expected 4 operand"),
    ],
)
def test_what_does_not_fit_is_refused(args, words):
    with pytest.raises(VerifyError, match=words):
        call(CacheUpdate(), *args)
