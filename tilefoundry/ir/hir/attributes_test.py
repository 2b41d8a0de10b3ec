"""What ops refuse of attributes and operands of the wrong kind, which the front end cannot write."""

import pytest

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir.core import Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import (
    Arange,
    ArgMax,
    FullLike,
    GridRegionExpr,
    LayerNorm,
    MeshCoordinate,
    Softmax,
    Transpose,
    TupleGetItem,
    Unary,
    UnaryKind,
)
from tilefoundry.ir.samples import call
from tilefoundry.ir.types import make_tensor_type

X, EMPTY = Var("x", make_tensor_type((4, 8), "f32")), Var("x", make_tensor_type((4, 0), "f32"))
OTHER = Var("x", make_tensor_type((4, 8), "bf16"))


def loop(**changed):
    carry = Var("a", X.type)
    fields = {"yield_values": (carry,), "extent": 4, **changed}
    return GridRegionExpr(Var("i", INDEX_TYPE), (carry,), (X,), None, **fields)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Arange(3), "type must be a tensor type, got 3"),
        (lambda: FullLike("x"), "value must be a number, got 'x'"),
        (lambda: Unary("exp"), "kind must be a UnaryKind, got 'exp'"),
        (lambda: LayerNorm(eps=-1.0), "eps must not be negative, got -1.0"),
        (lambda: MeshCoordinate("w"), "axis must be a MeshAxis, got 'w'"),
        (lambda: Transpose(1), "perm must be a tuple of ints, got 1"),
        (lambda: TupleGetItem("0"), "index must be a plain int, got '0'"),
        (lambda: loop(spread="w"), "spread must be a MeshAxis, got 'w'"),
        (lambda: loop(yield_values=(OTHER,)), "'a' is carried as .*f32.* but .*bf16"),
        (lambda: call(Softmax("x"), X), "axis"),
        (lambda: call(ArgMax(1), EMPTY), "is empty and has no greatest element"),
        (lambda: call(Unary(UnaryKind.EXP), Tuple((X, X))), "'x' must be a tensor(.|\n)*one element of the tuple"),
    ],
)
def test_refused_by_the_family(make, words):
    with pytest.raises(TileFoundryError, match=words):
        make()
