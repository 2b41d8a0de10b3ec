import copy
import dataclasses
import pickle

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Constant, ScalarPat, TensorPat, Var
from tilefoundry.ir.core.pattern import AndPat, DimVarRangePat
from tilefoundry.ir.dims import DimVar, dim_vars, normalize_dim
from tilefoundry.ir.samples import THREADS
from tilefoundry.ir.shard import (
    EMPTY_LAYOUT,
    Broadcast,
    ComposedLayout,
    Layout,
    Mesh,
    ShardLayout,
    Split,
    Topology,
    canonical_shard_layout,
    make_mesh,
)
from tilefoundry.ir.types import (
    INDEX_TYPE,
    CallableType,
    DType,
    FloatDType,
    IntegerDType,
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


@pytest.mark.parametrize(
    ("name", "bits", "signed"),
    [("i64", 64, True), ("i32", 32, True), ("i16", 16, True), ("i8", 8, True), ("u8", 8, False)],
)
def test_integer_dtypes(name, bits, signed):
    dtype = getattr(DType, name)
    assert DType.from_name(name) is dtype
    assert isinstance(dtype, IntegerDType)
    assert (dtype.name, dtype.bits, dtype.signed) == (name, bits, signed)
    assert dtype.is_integer and not dtype.is_float


def test_the_set_of_dtypes_is_closed_and_no_enum():
    assert FloatDType("f32", 32, 8, 23) == DType.f32  # equality and hash use all fields
    assert hash(FloatDType("f32", 32, 8, 23)) == hash(DType.f32)
    assert len({getattr(DType, n) for n in ("f16", "bf16", "f32", "i32", "i16")}) == 5
    for make in (
        lambda: FloatDType("f32", 32, 5, 26),
        lambda: FloatDType("f24", 24, 8, 15),
        lambda: IntegerDType("u8", 8, True),
        lambda: DType("f32", 32),
    ):
        with pytest.raises(ValueError, match=r"the set is closed(.|\n)*f64, f32"):
            make()
    for misuse in (lambda: iter(DType), lambda: DType["f32"], lambda: DType.f32.value, lambda: len(DType)):
        with pytest.raises((TypeError, AttributeError)):
            misuse()
    with pytest.raises(dataclasses.FrozenInstanceError):
        DType.f32.bits = 16


def test_a_dtype_holds_no_other_one():
    # printers follow all fields, class variables too
    assert set(FloatDType.__dataclass_fields__) == {"name", "bits", "exponent", "mantissa"}


def test_storage_kinds_have_the_numbers_of_the_runtime():
    assert {k.name: int(k) for k in StorageKind} == {
        "HOST": 1, "GMEM": 2, "SMEM": 3, "RMEM": 4, "TMEM": 5, "UMAT": 6,
    }  # fmt: skip
    assert [str(k) for k in StorageKind] == ["host", "gmem", "smem", "rmem", "tmem", "umat"]
    for kind in StorageKind:
        assert resolve_storage(kind) is resolve_storage(str(kind)) is kind


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
    assert TensorType.scalar("f32") == TensorType((), DType.f32, None, StorageKind.UMAT)
    assert TensorType.scalar(DType.i32, EMPTY_LAYOUT, StorageKind.RMEM).storage is StorageKind.RMEM
    assert TensorType.scalar("f32").rank == 0
    assert TensorType.umat_scalar() == INDEX_TYPE == TensorType((), DType.i64, EMPTY_LAYOUT, StorageKind.UMAT)
    assert TensorType.umat_tensor((3,)) == TensorType((3,), DType.i64, None, StorageKind.UMAT)
    assert make_tensor_type((2, 3)) == TensorType((2, 3), DType.f32, None, StorageKind.GMEM)


def test_types_are_frozen_and_compared_by_structure():
    t = make_tensor_type((N, 4), "bf16")
    assert t == make_tensor_type((N * 1, 4), DType.bf16)
    assert hash(t) == hash(make_tensor_type((N * 1, 4), DType.bf16))
    assert t != make_tensor_type((N, 4), "bf16", "smem")
    with pytest.raises(dataclasses.FrozenInstanceError):
        t.shape = (4,)
    assert CallableType(t, (t, t)) == CallableType(return_type=t, parameters=(t, t))
    assert str(CallableType(UnitType(), (TupleType((t,)),))) == f"(({t},)) -> unit"


def test_shard_tensor_types():
    mesh = make_mesh((4, 32))
    t = make_shard_tensor_type((8, 64), "f32", "rmem", mesh, (Split(0), Split(1)))
    assert t.layout == canonical_shard_layout((8, 64), mesh, (Split(0), Split(1)))
    assert t.layout.shape == (4, 2, 32, 2)
    plain = make_tensor_type((8, 64), "f32", "rmem")
    assert make_shard_tensor_type((8, 64), "f32", "rmem") == plain
    assert make_shard_tensor_type((8, 64), "f32", "rmem", mesh, ()) == plain
    assert make_shard_tensor_type((8, 64), "f32", "rmem", None, (Split(0),)) == plain


@pytest.mark.parametrize(
    ("type_", "elements", "size"),
    [
        (make_tensor_type((3, 5), "f32"), 15, 60),
        (make_tensor_type((3, 0), "f32"), 0, 0),
        (make_tensor_type((), "bf16"), 1, 2),
        (make_tensor_type((3,), "f4e2m1"), 3, 2),
        (make_tensor_type((9,), "bool"), 9, 2),
        (TupleType((make_tensor_type((3,), "f4e2m1"), make_tensor_type((3,), "f4e2m1"))), 6, 4),
        (TupleType((TupleType((make_tensor_type((2,), "i8"),)), make_tensor_type((2,), "f64"))), 4, 18),
        (UnitType(), 0, 0),
        (TupleType(()), 0, 0),
    ],
)
def test_sizes(type_, elements, size):
    assert (numel(type_), tensor_bytes(type_)) == (elements, size)


def test_sizes_of_sharded_tensors_are_those_of_the_whole():
    t = make_shard_tensor_type((8, 64), "f32", "rmem", make_mesh((4, 32)), (Split(0), Split(1)))
    assert (numel(t), tensor_bytes(t)) == (512, 2048)


@pytest.mark.parametrize("size", [numel, tensor_bytes])
def test_symbolic_sizes_are_refused_and_say_how_to_bind(size):
    with pytest.raises(ValueError, match=r"symbolic extent N(.|\n)*--dim N=EXTENT"):
        size(make_tensor_type((N, 2), "f32"))
    with pytest.raises(ValueError, match=r"symbolic extent N \* 2(.|\n)*--dim M=EXTENT --dim N=EXTENT"):
        size(TupleType((make_tensor_type((2,)), make_tensor_type((N * 2, M), "f32"))))


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
