"""Which placements pass through the arithmetic ops, on every operand: Split, Broadcast, Partial, Dynamic.

The table states for each operand the reductions whose Partial the op carries, and what becomes of a split of each axis;
all else must be refused.
"""

from dataclasses import dataclass, field

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.core.op import Op, op_names, schemas_named
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import (
    ArgMax,
    ArgMin,
    Attention,
    Binary,
    BinaryKind,
    Cast,
    Clamp,
    CumSum,
    FullLike,
    Gelu,
    LayerNorm,
    Quant,
    Reduce,
    ReduceKind,
    RMSNorm,
    Rope,
    Silu,
    Softmax,
    Softplus,
    Sort,
    TopK,
    Unary,
    UnaryKind,
    Where,
)
from tilefoundry.ir.samples import THREADS, call
from tilefoundry.ir.shard import Broadcast, Dynamic, Layout, Partial, ShardLayout, Split, c_order_strides
from tilefoundry.ir.types import make_tensor_type

REDUCTIONS = ("sum", "max", "min")
FAMILIES = ("elementwise", "norm", "reduce", "attention")
EXTREMES = ("max", "min")
MONOTONE = ["EXP", "LOG", "RELU", "CEIL", "ROUND", "EXP2", "LOG2", "LOG1P", "SQRT", "ERF", "TANH", "SIGMOID", "FLOOR"]


@dataclass(frozen=True)
class Case:
    """An op on operands of these shapes and dtypes; by operand, what passes while the others are replicated."""

    op: Op
    operands: tuple[tuple[tuple[int, ...], str], ...]
    # for each operand, for each axis: k where the result keeps a split, + where the op combines the parts, ! where a
    # split is refused while the other operands are replicated, 1 where there is nothing to split
    splits: tuple[str, ...]
    passes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    dynamic: bool = False  # the result may be Dynamic as its one operand is


def elementwise(op, passes=(), dtype="f32"):
    return Case(op, (((8, 16), dtype),), ("kk",), {0: passes}, dynamic=True)


X, ROW, VECTOR = ((8, 16), "f32"), ((1, 16), "f32"), ((16,), "f32")
Q, KV, MASK = ((4, 8, 8, 16), "f32"), ((4, 4, 8, 16), "f32"), ((8, 8), "bool")
LONG, SHORT = ((4, 4, 8, 16), "f32"), ((4, 4, 4, 16), "f32")
TABLES, POSITIONS = ((32, 16), "f32"), ((4,), "i32")
ROPE = (LONG, SHORT, TABLES, TABLES, POSITIONS)
CASES = (
    *(
        elementwise(
            Unary(kind),
            EXTREMES if kind.name in MONOTONE else ("sum",) if kind is UnaryKind.NEG else (),
            "bool" if kind is UnaryKind.NOT else "f32",
        )
        for kind in UnaryKind
        if kind is not UnaryKind.CAST
    ),
    elementwise(Cast("bf16")),
    elementwise(FullLike(1.0)),
    elementwise(Clamp(0.0, 1.0), EXTREMES),
    elementwise(Softplus(), EXTREMES),
    elementwise(Silu()),
    elementwise(Gelu()),
    *(
        Case(
            Binary(kind),
            (X, ROW)
            if kind.name not in ("FLOOR_DIV", "MOD", "AND", "OR")
            else tuple((shape, "i32" if kind.name in ("FLOOR_DIV", "MOD") else "bool") for shape, _ in (X, ROW)),
            ("kk", "1k"),
            dict.fromkeys((0, 1), {"ADD": EXTREMES, "MUL": ("sum",)}.get(kind.name, ())),
        )
        for kind in BinaryKind
    ),
    Case(Where(), ((X[0], "bool"), X, ROW), ("kk", "kk", "1k")),
    Case(Softmax(), (X,), ("kk",)),
    Case(RMSNorm(), (X, VECTOR), ("kk", "!")),
    Case(LayerNorm(), (X, VECTOR, VECTOR), ("k!", "!", "!")),
    *(
        Case(
            Reduce((0,), keepdim, kind),
            ((X[0], "bool" if kind.is_logical else "f32"),),
            ("+k",),
            {0: {"SUM": ("sum",), "MEAN": ("sum",), "MAX": ("max",), "MIN": ("min",)}.get(kind.name, ())},
        )
        for kind in ReduceKind
        for keepdim in (True, False)
    ),
    Case(ArgMax(), (X,), ("k!",)),
    Case(ArgMin(), (X,), ("k!",)),
    Case(TopK(2), (X,), ("k!",)),
    Case(Sort(), (X,), ("k!",)),
    Case(CumSum(), (X,), ("k!",), {0: ("sum",)}),
    Case(Quant(group=4), (X,), ("kk",)),
    Case(Attention(), (Q, KV, KV), ("kkk!", "kk!!", "kk!k")),
    Case(Attention(), (Q, KV, KV, MASK), ("kkk!", "kk!!", "kk!k", "k!")),
    Case(Rope(), ROPE, ("kkk!", "kkk!", "!!", "!!", "k"), {0: ("sum",), 1: ("sum",)}),
)  # fmt: skip


def over(attr, shape, dtype):
    """A fragment whose state along the first mesh axis is `attr`, and that is replicated along the others."""
    modes = shape
    if isinstance(attr, Split):  # the axis in two modes, of which the mesh axis splits the first
        extent = THREADS.shape[0]
        modes = (*shape[: attr.axis], extent, shape[attr.axis] // extent, *shape[attr.axis + 1 :])
    layout = ShardLayout(Layout(modes, c_order_strides(modes)), (attr, Broadcast(), Broadcast()), THREADS)
    return Var("x", make_tensor_type(shape, dtype, "rmem", layout))


def states(case, place=None, attr=None):
    """The states along the first mesh axis of the results, with one operand in another state than Broadcast."""
    operands = [over(attr if k == place else Broadcast(), *operand) for k, operand in enumerate(case.operands)]
    type_ = call(case.op, *operands).type
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    return [t.layout.attrs[0] for t in fields]


def label(case):
    return f"{case.op}"


@pytest.mark.parametrize("case", CASES, ids=label)
def test_replicated_operands_give_a_replicated_result(case):
    assert set(states(case)) == {Broadcast()}


@pytest.mark.parametrize("case", CASES, ids=label)
def test_partial_operands(case):
    for place in range(len(case.operands)):
        for reduction in REDUCTIONS:
            if reduction in case.passes.get(place, ()):
                assert Partial(reduction) in states(case, place, Partial(reduction))
            else:
                with pytest.raises(VerifyError, match=r"P\(\w+\) along mesh axis 'w'(.|\n)*explicit tf\.reshard"):
                    states(case, place, Partial(reduction))


@pytest.mark.parametrize("case", CASES, ids=label)
def test_split_operands(case):
    assert [len(fates) for fates in case.splits] == [len(shape) for shape, _ in case.operands]
    for place, fates in enumerate(case.splits):
        for axis, fate in enumerate(fates):
            assert (case.operands[place][0][axis] == 1) == (fate == "1")
            if fate == "!":
                with pytest.raises(VerifyError) as caught:
                    states(case, place, Split(axis))
                assert "tf.reshard" in caught.value.remedy
            elif fate != "1":
                kept = [isinstance(state, Split) for state in states(case, place, Split(axis))]
                assert any(kept) if fate == "k" else not any(kept)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_dynamic_operands(case):
    for place in range(len(case.operands)):
        if case.dynamic:
            assert states(case, place, Dynamic()) == [Dynamic()]
        else:
            with pytest.raises(VerifyError, match=r"Dynamic|may be split|is split") as caught:
                states(case, place, Dynamic())
            assert "tf.reshard" in caught.value.remedy


def test_two_partial_sums_add_up():
    operands = [over(Partial("sum"), (8, 16), "f32")] * 2
    assert call(Binary(BinaryKind.ADD), *operands).type.layout.attrs[0] == Partial("sum")
    for kind in (BinaryKind.SUB, BinaryKind.MUL, BinaryKind.MAX):
        with pytest.raises(VerifyError, match="cannot pass through"):
            call(Binary(kind), *operands)


def test_the_table_has_every_arithmetic_op():
    listed = {type(case.op) for case in CASES}
    families = {
        s.build for n in op_names("tf") for s in schemas_named("tf", n) if s.category in FAMILIES and not s.is_alias
    }
    assert families == listed
