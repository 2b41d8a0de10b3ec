"""What constructors and type rules refuse of values that only code builds: the kind, the words, and a remedy."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry.diagnostics import NotProjectable, TileFoundryError, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Call, Constant, Function, Module, Op, ParamDef, Tuple, Var
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, normalize_dim
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import (
    CacheUpdate,
    GridRegionExpr,
    InsertSlice,
    Local,
    Reshape,
    Slice,
    Transpose,
    TupleGetItem,
    Zeros,
)
from tilefoundry.ir.samples import CTA, CTAS, THREAD, call
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    ShardLayout,
    Split,
    Swizzle,
    Topology,
    apply,
)
from tilefoundry.ir.tir.barriers import participants
from tilefoundry.ir.tir.text import tir_text
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type
from tilefoundry.ir.types.matching import instantiate_type
from tilefoundry.ir.verify import verify_function

N = DimVar("N", 1, 9)
T = make_tensor_type((8, 8), "f32")
X = Var("x", T)
W = Var("w", T, is_const=True)
SWIZZLED = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 8), (8, 1)))
IN_SMEM = Var("x", TensorType((8, 8), DType.f32, SWIZZLED, StorageKind.SMEM))
NESTED = Var("x", TensorType((8, 8), DType.f32, Layout(((2, 4), 8), ((32, 8), 1)), StorageKind.SMEM))
MAPPED = Var("x", TensorType((8, 8), DType.f32, ComposedLayout(Layout((8, 8), (8, 1)), 0, None), StorageKind.SMEM))
FOUR = Mesh((Topology("thread", 4),), Layout((4,)), ("t",))
# one mode over two axes
STRADDLING = Var(
    "x", TensorType((2, 2), DType.f32, ShardLayout(Layout((4,), (0,)), (Split(0),), FOUR), StorageKind.RMEM)
)
I32 = TensorType.scalar("i32")


@dataclass(frozen=True, slots=True)
class Ruleless(Op):
    """An op without a type rule."""

    x: ClassVar[ParamDef] = ParamDef()


@dataclass(frozen=True, slots=True)
class DimAverage(DimOp):
    """Arithmetic on extents that has no normal form."""


@dataclass(frozen=True, slots=True)
class Foreign(tir.Stmt):
    """A statement of nobody's."""


def weighted(*converters, params=(X, W)):
    return Function("f", params, X, T, converters=converters)


def partial_scalar():
    layout = ShardLayout(Layout((), ()), (Partial("sum"),), FOUR)
    return Var("n", TensorType((), DType.i32, layout, StorageKind.RMEM))


def cache_update():
    cache, new = (Var(n, make_tensor_type(s, "f32")) for n, s in (("c", (1, 8, 1, 2)), ("new", (1, 2, 1, 2))))
    return call(CacheUpdate(), cache, partial_scalar(), Constant(1, I32), new)


def read_in_a_nested_loop():
    """A loop spread over 'c' whose inner loop reads what it has written, into a carry of its own."""
    spread = MeshAxis(CTAS, 0)
    row = make_tensor_type((8,), "f32")
    i, j = Var("i", INDEX_TYPE), Var("j", INDEX_TYPE)
    out = Var("a", T)
    inner_outs = tuple(Var(n, T) for n in "ab")
    first = call(InsertSlice((1, 8)), inner_outs[0], call(Zeros(row)), Tuple((j, 0)))
    window = call(Slice((1, 8), drop=(0,)), inner_outs[0], Tuple((j, 0)))
    second = call(InsertSlice((1, 8)), inner_outs[1], window, Tuple((j, 0)))
    inner = GridRegionExpr(j, inner_outs, (out, call(Zeros(T))), None, (first, second), 8)
    written = call(TupleGetItem(0), inner)
    return Function("f", (X,), GridRegionExpr(i, (out,), (call(Zeros(T)),), None, (written,), 8, spread=spread), T)


REFUSED = {
    "an activation too many": (
        lambda: Call(ChildEntry("proj", weighted()), (X, X)),
        VerifyError,
        r"child 'proj' takes 1 activation\(s\) \(x\), got 2",
    ),
    "two converters of one weight": (
        lambda: weighted(("w", Function("c", (X,), X, T)), ("w", Function("d", (X,), X, T))),
        WrongValueError,
        "weight 'w' has two converters",
    ),
    "a converter without a body": (
        lambda: weighted(("w", Function("c", (X,), None, T))),
        VerifyError,
        "converter of weight 'w' has no body",
    ),
    "a kind of parameter": (lambda: ParamDef("output"), WrongValueError, "kind must be"),
    "an op without a rule": (lambda: call(Ruleless(), X), VerifyError, "Ruleless has no type rule"),
    "a module that is not made yet": (lambda: object.__new__(Module).name, AttributeError, "no attribute 'name'"),
    "arithmetic of nobody's": (
        lambda: normalize_dim(Call(DimAverage(), (N, 2), INDEX_TYPE)),
        WrongTypeError,
        "unknown dim op DimAverage",
    ),
    "a Partial count": (cache_update, VerifyError, r"is P\('?sum'?\) along mesh axis 't' and cannot pass"),
    "a reshape of a swizzled tile": (
        lambda: call(Reshape((64,)), IN_SMEM),
        VerifyError,
        "reshape: cannot reshape the layout",
    ),
    "a window of a swizzled tile": (
        lambda: call(Slice((4, 8)), IN_SMEM, Tuple((0, 0))),
        VerifyError,
        "slice: cannot take a window of the layout",
    ),
    "a window of nested modes": (
        lambda: call(Slice((4, 8)), NESTED, Tuple((0, 0))),
        VerifyError,
        "cannot take a window of the layout .*(.|\n)*flat layout",
    ),
    "a permutation of a bare map": (
        lambda: call(Transpose((1, 0)), MAPPED),
        VerifyError,
        "transpose: cannot permute the layout",
    ),
    "the part of modes across axes": (lambda: call(Local(), STRADDLING), VerifyError, "modes .* straddle the axes"),
    "a swizzle of a symbolic index": (
        lambda: apply(ComposedLayout(Swizzle(3, 4, 3), 0, Layout((N,), (1,))), (N,)),
        NotProjectable,
        "is symbolic",
    ),
    "an empty name of an axis": (
        lambda: Mesh((THREAD,), Layout((128,)), ("",)),
        WrongTypeError,
        "names must be a tuple of non-empty strings",
    ),
    "a barrier of symbolic threads": (
        lambda: participants(Mesh((Topology("thread", N),), Layout((N,)), ("t",))),
        VerifyError,
        "has a symbolic extent",
    ),
    "a statement without a text": (
        lambda: tir_text(tir.PrimFunction("k", (X,), Foreign())),
        WrongTypeError,
        "Foreign has no text form",
    ),
    "a layout under other extents": (
        lambda: instantiate_type(TensorType((N,), DType.f32, Layout((N,), (1,)), StorageKind.GMEM), {N: 4}),
        VerifyError,
        "cannot be carried to the shape",
    ),
    "a carry that an inner loop reads": (
        lambda: verify_function(read_in_a_nested_loop(), (CTA, THREAD)),
        VerifyError,
        "run in no order; a carry may only be written by insert_slice",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_kind_and_words_with_a_remedy(what):
    make, kind, words = REFUSED[what]
    with pytest.raises(kind, match=words) as caught:
        make()
    assert isinstance(caught.value, TileFoundryError)
    assert caught.value.remedy or kind is AttributeError  # which Python's own protocols ask for
