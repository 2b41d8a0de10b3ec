"""Types of normalised tensors."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import LayerNorm, RMSNorm, Softmax
from tilefoundry.ir.samples import GROUP, QUAD, W, call, held, value
from tilefoundry.ir.shard import Layout, Placed
from tilefoundry.ir.types import StorageKind, make_tensor_type

N = DimVar("N", 1, 100)
ROWS = (Placed(4, (W,)), 2, Placed(8, (GROUP,)))
TILE = held((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2)
COLUMNS = held((64,), 8, Placed(4, (QUAD,)), 2)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_results_are_of_the_type_of_x(dtype):
    for shape in ((4, 8), (2, N, 8), (8,)):
        x, w = value(shape, dtype), value((8,), dtype)
        for weight in (w, value((8,))):  # of the dtype of x, or of f32
            assert call(RMSNorm(), x, weight).type == x.type
            assert call(LayerNorm(), x, weight, w).type == x.type
        assert call(Softmax(), x).type == x.type
    both = value((4, N), dtype)
    assert call(LayerNorm(axis=1), value((2, 4, N), dtype), both, both).type.shape == (2, 4, N)


def test_placements():
    assert call(Softmax(), TILE).type == TILE.type  # the axis is split: the op combines
    assert call(RMSNorm(), TILE, COLUMNS).type == TILE.type
    whole = held((64, 8), *ROWS, 8)
    replicated = Var("w", make_tensor_type((8,), "f32", "rmem", Layout((8,), (1,))))
    assert call(LayerNorm(), whole, replicated, replicated).type == whole.type
    window = Var("x", make_tensor_type((4, 8), "f32", "smem", Layout((4, 8), (16, 1))))
    assert call(Softmax(0), window).type == window.type


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Softmax(2), value((4, 8))), "axis 2 is out of range for rank 2"),
        (lambda: call(Softmax(), value((4, 8), "i32")), "must be of f16, bf16, f32 or f64, got i32"),
        (lambda: call(Softmax(), value((4, 8), "fp8e4m3")), r"got fp8e4m3(.|\n)*tf\.cast\(x"),
        (lambda: Softmax(None), "axis must be a plain int"),
        (lambda: call(RMSNorm(), value((4, 8)), value((4,))), r"'weight' must have the shape \(8\)|\(8,\)"),
        (lambda: call(RMSNorm(), value((4, 8)), value((1, 8))), "'weight' must have the shape"),
        (lambda: call(RMSNorm(), value((4, 8)), value((8,), "bf16")), "'weight' must be of f32"),
        (lambda: call(RMSNorm(), value((4, 8), "bf16"), value((8,), "f16")), "'weight' must be of bf16, as 'x', or of"),
        (lambda: call(RMSNorm(), value((4, 8)), value((8,), storage="smem")), "conflicting storage: gmem, smem"),
        (lambda: call(RMSNorm(), TILE, held((64,), Placed(4, (QUAD,)), 16)), "placed differently"),
        (lambda: RMSNorm(-1.0), "eps must not be negative"),
        (lambda: RMSNorm("small"), "eps must be a number"),
        (lambda: RMSNorm(float("nan")), "eps must be a number"),
        (lambda: call(LayerNorm(), value((4, 8)), value((8,)), value((4,))), "'bias' must have the shape"),
        (lambda: call(LayerNorm(axis=0), value((4, 8)), value((8,)), value((8,))), "'weight' must have the shape"),
        (lambda: call(LayerNorm(), TILE, COLUMNS, COLUMNS), "axis 1 of 'x' is split .* cannot be normalised"),
        (lambda: LayerNorm(eps=True), "eps must be a number"),
        (lambda: LayerNorm(axis=1.0), "axis must be a plain int"),
    ],
)
def test_refusals(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()


def test_storage():
    assert call(RMSNorm(), TILE, COLUMNS).type.storage is StorageKind.RMEM
