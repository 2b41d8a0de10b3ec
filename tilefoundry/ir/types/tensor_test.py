import copy
import pickle

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Constant, ScalarPat, TensorPat, Var
from tilefoundry.ir.core.pattern import AndPat, DimVarRangePat
from tilefoundry.ir.dims import DimVar, dim_vars, normalize_dim
from tilefoundry.ir.samples import THREADS
from tilefoundry.ir.shard import Broadcast, ComposedLayout, Layout, Mesh, ShardLayout, Split, Topology, make_mesh
from tilefoundry.ir.types import (
    INDEX_TYPE,
    DType,
    FloatDType,
    StorageKind,
    TensorType,
    TupleType,
    UnitType,
    make_shard_tensor_type,
    make_tensor_type,
    numel,
    resolve_storage,
    tensor_bytes,
)
from tilefoundry.ir.types.matching import bind_parameters, bind_type, matches

N = DimVar("N", 1, 10)
M, K, T = DimVar("M", 1, 10), DimVar("K", 1, 100), DimVar("T", 1, 4)


@pytest.mark.parametrize(
    ("name", "bits", "parts"),
    [
        ("f64", 64, (11, 52)),
        ("f32", 32, (8, 23)),
        ("f16", 16, (5, 10)),
        ("bf16", 16, (8, 7)),
        ("fp8e4m3", 8, (4, 3)),
        ("fp8e5m2", 8, (5, 2)),
        ("f8e8m0", 8, (8, 0)),
        ("f4e2m1", 4, (2, 1)),
    ],
)
def test_float_dtypes(name, bits, parts):
    dtype = getattr(DType, name)
    assert DType.from_name(name) is dtype
    assert isinstance(dtype, FloatDType)
    assert (dtype.bits, (dtype.exponent, dtype.mantissa)) == (bits, parts)


def test_other_dtypes_and_unknown_names():
    assert DType.i32.range == (-(2**31), 2**31 - 1)
    assert DType.u8.range == (0, 255)
    assert (DType.bool.bits, DType.bool.storage_bits, DType.f4e2m1.storage_bits) == (1, 8, 4)
    assert not DType.bool.is_integer
    with pytest.raises(ValueError, match=r"unknown dtype 'float32'(.|\n)*f32"):
        DType.from_name("float32")
    with pytest.raises(TypeError):
        DType.from_name(3)
    with pytest.raises(TypeError):
        iter(DType)


def test_types_survive_pickling_and_dtypes_stay_singletons():
    t = make_tensor_type((N * 2 + 1, 4), "bf16", "smem", Layout((N * 2 + 1, 4), (4, 1)))
    again = pickle.loads(pickle.dumps(t))
    assert again == t
    assert hash(again) == hash(t)
    assert again.dtype is DType.bf16
    assert copy.deepcopy(DType.f32) is DType.f32


def test_storage_names_are_exact():
    assert resolve_storage("gmem") is StorageKind.GMEM
    assert resolve_storage(None) is None
    assert str(StorageKind.RMEM) == "rmem"
    with pytest.raises(ValueError, match="unknown storage"):
        resolve_storage("GMEM")
    with pytest.raises(TypeError):
        resolve_storage(2)


def test_every_dim_in_a_type_is_stored_in_normal_form():
    written, stored = N * 2 - N + 1 - 1, N
    layout = Layout((written, (4, written)), (written, (1, written * 4)))
    assert layout == Layout((stored, (4, stored)), (stored, (1, stored * 4)))
    assert Topology("cta", written).size is stored
    assert ComposedLayout(None, written, Layout((4,), (1,))).offset is stored
    assert Mesh((Topology("cta", written),), Layout((written,))).shape == (stored,)
    sl = ShardLayout(Layout((written,)), (Split(0),), Mesh((Topology("cta", N),), Layout((N,))))
    assert TensorType((written,), DType.f32, sl).shape == sl.shape == (stored,)


def test_extents_are_stored_in_normal_form():
    assert make_tensor_type((N + 1 - 1, N * 0 + 4), "f32").shape == (N, 4)
    assert make_tensor_type((Constant(3, INDEX_TYPE),), "f32").shape == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TensorType((-1,), DType.f32), "negative"),
        (lambda: TensorType((1.0,), DType.f32), "ints and dims"),
        (lambda: TensorType((4,), "f32"), "must be a DType"),
        (lambda: TensorType((4,), DType.f32, None, "gmem"), "must be a StorageKind"),
        (lambda: TensorType((4,), DType.f32, "row"), "layout or None"),
        (lambda: TensorType((4, 4), DType.f32, Layout((16,))), "does not fit"),
        (
            lambda: make_tensor_type((4,), "f32", layout=Layout((5,))),
            "does not fit.*: 5 and 4 differ",
        ),
        (lambda: make_tensor_type((N,), "f32", layout=Layout((M,))), "cannot prove that M equals N"),
        (lambda: make_tensor_type((N,), "f32", layout=Layout((N + 1,))), r"N \+ 1 and N differ"),
        (lambda: make_tensor_type((4, 4), "f32", layout=Layout((4, 4), (1, 1))), "expected an injective layout"),
        (
            lambda: TensorType((N,), DType.f32, ShardLayout(Layout((M,)), (Broadcast(),) * 3, THREADS)),
            "as many elements as .* cannot prove that M equals N",
        ),
        (
            lambda: TensorType((4,), DType.f32, ShardLayout(Layout((8,)), (Broadcast(),) * 3, THREADS)),
            "as many elements",
        ),
        (lambda: make_tensor_type((4,), storage=None), "storage must be given"),
        (lambda: TupleType((3,)), "tuple of types"),
        (lambda: TensorType((Var("x", make_tensor_type((2,), "i64")),), DType.f32), "must be a scalar integer"),
        (lambda: TensorType((Var("x", TensorType.scalar("f32")),), DType.f32), "must be a scalar integer"),
    ],
)
def test_malformed_types_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_scalars():
    assert TensorType.scalar("f32").storage is StorageKind.UMAT
    assert TensorType.umat_scalar() == INDEX_TYPE
    assert TensorType.umat_tensor((3,)).dtype is DType.i64


def test_shard_tensor_types():
    mesh = make_mesh((4, 32))
    t = make_shard_tensor_type((8, 64), "f32", "rmem", mesh, (Split(0), Split(1)))
    assert t.layout.shape == (4, 2, 32, 2)
    assert make_shard_tensor_type((8, 64), "f32", "rmem").layout is None


def test_sizes():
    assert numel(make_tensor_type((3, 0), "f32")) == 0
    assert tensor_bytes(TupleType((make_tensor_type((3,), "f4e2m1"), make_tensor_type((2,), "f32")))) == 2 + 8
    assert tensor_bytes(UnitType()) == 0
    with pytest.raises(ValueError, match="--dim N=EXTENT"):
        tensor_bytes(make_tensor_type((N, 2), "f32"))


def test_a_formal_without_layout_accepts_any():
    formal = make_tensor_type((N, 4), "f32")
    assert bind_type(formal, make_tensor_type((3, 4), "f32", "rmem", Layout((3, 4), (4, 1))), {})
    assert not bind_type(formal, make_tensor_type((3, 4), "f32"), None)
    assert not bind_type(formal, make_tensor_type((10, 4), "f32"), {})
    fixed = make_tensor_type((3, 4), "f32", layout=Layout((3, 4), (1, 3)))
    assert not bind_type(fixed, make_tensor_type((3, 4), "f32"), {})
    bindings = {}
    pair = TupleType((formal, formal))
    assert bind_type(pair, TupleType((make_tensor_type((3, 4), "f32"),) * 2), bindings)
    assert bindings == {N: 3}
    assert not bind_type(formal, make_tensor_type((4, 4), "f32"), bindings)


@pytest.mark.parametrize(
    ("formals", "actuals", "bindings"),
    [
        ([(N,)], [(4,)], {N: 4}),
        ([(N * 2,)], [(6,)], {N: 3}),
        ([(N * 2 + 1,)], [(7,)], {N: 3}),
        ([(N * M,), (N, M)], [(6,), (2, 3)], {N: 2, M: 3}),
        ([(N * 2,), (N,)], [(6,), (3,)], {N: 3}),
        ([(N + M, N)], [(5, 2)], {N: 2}),  # N + M stays open: refused below
        ([(N * 2,)], [(T * 4 - 2,)], {N: T * 2 - 1}),
        ([(K,)], [(N + M,)], {K: N + M}),
    ],
)
def test_extents_of_a_call_are_found_in_any_order(formals, actuals, bindings):
    params = [(f"p{i}", make_tensor_type(shape, "f32")) for i, shape in enumerate(formals)]
    types = [make_tensor_type(shape, "f32") for shape in actuals]
    if len(bindings) < len({v for shape in formals for d in shape for v in dim_vars(d)}):
        with pytest.raises(VerifyError, match="type mismatch"):
            bind_parameters("f", params, types)
    else:
        assert {v: normalize_dim(e) for v, e in bind_parameters("f", params, types).items()} == {
            v: normalize_dim(e) for v, e in bindings.items()
        }


@pytest.mark.parametrize(
    ("formals", "actuals", "words"),
    [
        ([(N * 2,)], [(5,)], r"f: parameter 'p0' is .*\(N \* 2,\).*\(type mismatch\)"),
        ([(N * 2,)], [(40,)], "type mismatch"),
        ([(N,), (N * 2,)], [(3,), (7,)], "parameter 'p1'"),
        ([(N,)], [(K,)], r"extent K in \[1, 100\) does not fit N in \[1, 10\)(.|\n)*widen"),
        ([(N,)], [(M + 1,)], r"extent M \+ 1 in \[2, 11\) does not fit N"),
        ([(N,)], [(K // (K - M),)], "of unknown range does not fit N"),
        ([(4,)], [(N,)], "type mismatch"),
    ],
)
def test_extents_that_do_not_fit_a_call_are_refused(formals, actuals, words):
    params = [(f"p{i}", make_tensor_type(shape, "f32")) for i, shape in enumerate(formals)]
    with pytest.raises(VerifyError, match=words):
        bind_parameters("f", params, [make_tensor_type(shape, "f32") for shape in actuals])


def test_patterns():
    scalar, matrix = TensorType.scalar("f32"), make_tensor_type((2, 3), "bf16")
    assert matches(ScalarPat(), scalar)
    assert not matches(ScalarPat(), matrix)
    assert matches(AndPat((TensorPat(rank=2), TensorPat(dtype="bf16"))), matrix)
    assert not matches(TensorPat(rank=1), matrix)
    assert not matches(TensorPat(), UnitType())
    with pytest.raises(ValueError):
        DimVarRangePat("N", 3, 3)


def test_types_print_readably():
    t = make_tensor_type((N, 4), "bf16", "smem", Layout((N, 4), (4, 1)))
    assert str(t) == "Tensor[(N,4), bf16, (N,4):(4,1), smem]"
    assert str(Var("x", t).type) == str(t)
