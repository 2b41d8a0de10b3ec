"""What constructors and rules of TIR refuse, on values built by hand; most authors cannot write them."""

import pytest

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Constant, Tuple, Var
from tilefoundry.ir.hir import BinaryKind, ReduceKind, UnaryKind
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type

FLAGS = Var("flags", TensorType((4, 8), DType.bool, None, StorageKind.RMEM))
COUNTS = Var("counts", TensorType((4, 8), DType.i32, None, StorageKind.RMEM))
X = Var("x", TensorType((4, 8), DType.f32, None, StorageKind.RMEM))
COLUMN = Var("column", TensorType((4, 1), DType.f32, None, StorageKind.RMEM))
ROW = Var("row", TensorType((8,), DType.f32, None, StorageKind.RMEM))
WHOLE = Var("whole", TensorType((64, 64), DType.f32, None, StorageKind.GMEM))
HALF, NUMBER = Constant(0.5, TensorType.scalar("f32")), Constant(4, tir.EXTENT_TYPE)
ORIGIN, ONE = Tuple((NUMBER, NUMBER)), Tuple((NUMBER,))
NOTHING = tir.fold(())
ATOM = next(iter(tir.ATOMS.values()))
WIDE = Var("acc", TensorType((16, 8), DType.f32, None, StorageKind.SMEM))
ACC, LHS, RHS = (Var(n, make_tensor_type(s, d, "rmem")) for n, s, d in (
    ("acc", (16, 8), "f32"), ("a", (16, 16), "bf16"), ("b", (16, 8), "bf16"),
))  # fmt: skip


def kernel(**changed):
    return tir.PrimFunction(**{"name": "k", "params": (X,), "body": NOTHING, **changed})


def on(op, *args):
    return lambda: op.infer_type(args)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        # kernels and symbols
        (lambda: kernel(name=""), "name must be a non-empty string, got ''"),
        (lambda: kernel(params=[X]), "params must be a tuple of Var"),
        (lambda: kernel(body=None), "body must be a statement, got None"),
        (lambda: kernel(target="cuda"), "target must be a Target, got 'cuda'"),
        (lambda: kernel(output_count=True), "output_count must be an int, got True"),
        (lambda: kernel(params=(X, Var("x", X.type))), "parameter 'x' is declared twice"),
        (lambda: tir.SymbolRef("a", ("",)), "names must be non-empty strings, got ''"),
        (lambda: tir.ShapeOf(NUMBER, 0), "expected a tensor parameter"),
        (lambda: tir.ShapeOf(X, True), "axis must be a plain int, got True"),
        (lambda: tir.ShapeOf(X, 2), "'x' of type .* has no axis 2(.|\n)*from 0 to 1"),
        # attributes
        (lambda: tir.Unary("exp"), "kind must be a UnaryKind, got 'exp'"),
        (lambda: tir.Clamp("0", 1), "min_val must be a number, got '0'"),
        (lambda: tir.MemorySpan(0), "a positive number of bytes, got 0"),
        (lambda: tir.MemorySpan(True), "a positive number of bytes, got True"),
        (lambda: tir.TensorView(shape="4"), "shape must be a tuple of extents, got '4'"),
        (lambda: tir.Mma("m16n8k16"), "atom must be an MmaAtom, got 'm16n8k16'"),
        (lambda: tir.RMSNorm("small"), "eps must be a number, got 'small'"),
        (lambda: tir.Reduce("x", ReduceKind.SUM), "axes must be a tuple of axes, got 'x'"),
        (lambda: tir.Reduce((1,), "sum"), "kind must be a ReduceKind, got 'sum'"),
        (lambda: tir.Sync(4), "expected a mesh, got 4"),
        (lambda: tir.CpAsyncWait("0"), "n must be an int, got '0'"),
        (lambda: tir.Launch(dynamic_smem=-1), "dynamic_smem must be a number of bytes, got -1"),
        (lambda: tir.Launch(stream=3), "stream must be a name, got 3"),
        (lambda: tir.Launch(attrs=("a",)), "attrs must be .* pairs"),
        # operands
        (on(tir.Copy(), NUMBER, X), "'src' must be a tensor"),
        (on(tir.Unary(UnaryKind.NOT), X, X), "not needs bool elements, got f32"),
        (on(tir.Binary(BinaryKind.AND), X, X, X), "and needs bool operands, got f32"),
        (on(tir.Where(), X, X, X, X), "'condition' must be bool"),
        (on(tir.Iota(2, 1), NUMBER, COUNTS), "has no axis 2"),
        (on(tir.TileLoad((4, 8)), WHOLE, Tuple((NUMBER, HALF)), X), r"'coordinates\[1\]' must be an integer, got f32"),
        (on(tir.Iota(0, 1), COUNTS, COUNTS), "'start' must be a scalar"),
        (on(tir.Iota(0, 1), HALF, COUNTS), "'start' is f32, and the elements of 'dst' are i32"),
        (on(tir.Iota(0, 1), NUMBER, FLAGS), "the elements of 'dst' are bool"),
        (on(tir.TensorView(), NUMBER), "'memory' must be a tensor or a pointer"),
        (on(tir.Mma(), X, ROW, X), "'lhs' must be a matrix"),
        (on(tir.Mma(), ACC, X, X), "do not give"),
        (on(tir.Mma(ATOM), WIDE, LHS, RHS), r"'acc' of SM80_\S+ is a tensor of \(16, 8\) f32 in registers, got"),
        (on(tir.RMSNorm(), COUNTS, ROW, COUNTS), "'src' must have float elements, got i32"),
        (on(tir.Reduce((1,), ReduceKind.SUM), X, COLUMN, ROW), "'workspace' must lie in smem"),
        (on(tir.TileLoad((4, 8)), WHOLE, ONE, X), "must have one entry for each axis"),
        (on(tir.TileLoad((4,)), WHOLE, ORIGIN, X), "must have one entry for each axis"),
        (on(tir.TileStore((8, 8)), X, WHOLE, ORIGIN), r"the box \(8, 8\) does not have the extents of 'src'"),
        (on(tir.Launch(), X, ONE, ONE, ONE), "the callee must be a @prim_func"),
        (on(tir.Launch(), tir.SymbolRef("k"), X, ONE, ONE), "'args' must be a tuple"),
    ],
)
def test_refused_by_the_family(make, words):
    with pytest.raises(TileFoundryError, match=words) as caught:
        make()
    assert caught.value.remedy


@pytest.mark.parametrize(
    "make",
    [
        kernel,
        lambda: tir.ShapeOf(X, 1),
        on(tir.Unary(UnaryKind.NOT), FLAGS, FLAGS),
        on(tir.Where(), FLAGS, X, X, X),
        on(tir.Iota(1, 1), NUMBER, COUNTS),
        on(tir.Iota(1, 1), HALF, X),
        on(tir.Reduce((1,), ReduceKind.SUM), X, COLUMN),
        on(tir.TileLoad((4, 8)), WHOLE, ORIGIN, X),
        on(tir.Launch(), tir.SymbolRef("k"), ONE, ONE, ONE),
    ],
)
def test_what_stands_beside_it_is_accepted(make):
    make()
