"""Sentences of the surface that no test of a layer holds by itself: names, error kinds, words of messages."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import dataclasses

import pytest
import torch

import tilefoundry
import tilefoundry.dsl as dsl
import tilefoundry.runtime
from tilefoundry import diagnostics, evaluate, func, module
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, P, Tensor, Topology, tf
from tilefoundry.ir import core, dims, hir, shard, types
from tilefoundry.ir.core import Call, Constant, Function, Module, Var, register_alias
from tilefoundry.ir.core.op import inputs_of
from tilefoundry.ir.shard import Broadcast, ComposedLayout, Layout, Partial, ShardLayout, Split, make_mesh
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType, make_tensor_type
from tilefoundry.target import CpuTarget, CudaTarget, default_target, validate_program_topology

N = DimVar("N", 1, 9)
T = make_tensor_type((4, 8), "f32")


def refused(kind, words, function, *args, **keywords):
    """Checks that a call is refused: by this kind, in these words, with a remedy."""
    with pytest.raises(kind) as caught:
        function(*args, **keywords)
    assert isinstance(caught.value, diagnostics.TileFoundryError), caught.value
    for word in words if isinstance(words, tuple) else (words,):
        assert word in str(caught.value), str(caught.value)


# -- 1. types


@pytest.mark.parametrize(
    ("name", "kind", "facts"),
    [
        ("f32", types.FloatDType, (32, 8, 23)),
        ("f16", types.FloatDType, (16, 5, 10)),
        ("bf16", types.FloatDType, (16, 8, 7)),
        ("fp8e4m3", types.FloatDType, (8, 4, 3)),
        ("f8e8m0", types.FloatDType, (8, 8, 0)),
        ("f4e2m1", types.FloatDType, (4, 2, 1)),
        ("i32", types.IntegerDType, (32, True)),
        ("i64", types.IntegerDType, (64, True)),
        ("bool", types.BoolDType, (1,)),
    ],
)
def test_dtypes(name, kind, facts):
    dtype = getattr(DType, name)
    assert type(dtype) is kind and DType.from_name(name) is dtype and dtype.name == name
    assert tuple(getattr(dtype, f.name) for f in dataclasses.fields(dtype))[1:] == facts
    assert not hasattr(dtype, "value")
    with pytest.raises(TypeError):
        iter(DType)
    with pytest.raises(TypeError):
        DType["f32"]


def test_unknown_dtypes_and_storages():
    refused(ValueError, ("'float32'", "f32, f16, bf16"), DType.from_name, "float32")
    assert types.resolve_storage(None) is None
    assert types.resolve_storage(StorageKind.SMEM) is types.resolve_storage("smem") is StorageKind.SMEM
    refused(ValueError, "'SMEM'", types.resolve_storage, "SMEM")
    refused(TypeError, "3", types.resolve_storage, 3.0)
    assert [(k.name, k.value) for k in StorageKind] == [
        ("HOST", 1), ("GMEM", 2), ("SMEM", 3), ("RMEM", 4), ("TMEM", 5), ("UMAT", 6),
    ]  # fmt: skip
    assert [str(k) for k in StorageKind] == ["host", "gmem", "smem", "rmem", "tmem", "umat"]


def test_scalar_types():
    assert TensorType.scalar("f32") == TensorType((), DType.f32, TensorType.scalar("f32").layout, StorageKind.UMAT)
    assert TensorType.umat_scalar().dtype is DType.i64 and TensorType.umat_scalar().layout == shard.EMPTY_LAYOUT
    assert TensorType.umat_tensor((3,)).shape == (3,) and TensorType.umat_tensor((3,)).storage is StorageKind.UMAT


def test_sizes():
    pair = TupleType((make_tensor_type((3, 4), "bf16"), make_tensor_type((5,), "f4e2m1")))
    assert (types.numel(pair), types.tensor_bytes(pair)) == (17, 27)  # 5 elements of 4 bits take 3 bytes
    assert types.tensor_bytes(TupleType(())) == types.tensor_bytes(make_tensor_type((0, 4))) == 0
    refused(ValueError, "--dim N=EXTENT", types.numel, make_tensor_type((N,)))
    refused(ValueError, "--dim N=EXTENT", types.tensor_bytes, make_tensor_type((N,)))


def test_local_types():
    levels = (Topology("thread", 4),)
    split = types.make_shard_tensor_type((6,), "f32", "gmem", make_mesh((4,)), (Broadcast(),))
    assert types.local_type_of(split, level="thread", topologies=levels).shape == (6,)
    whole = types.make_shard_tensor_type((8,), "f32", "rmem", make_mesh((4,)), (Split(0),))
    assert types.local_type_of(whole, level="thread", topologies=levels).shape == (2,)
    dynamic = types.make_shard_tensor_type((N,), "f32", "gmem", make_mesh((4,)), (Split(0),))
    uneven = TensorType(
        (6,), DType.f32, ShardLayout(Layout((6,), (1,)), (Split(0),), make_mesh((4,))), StorageKind.GMEM
    )
    refused(ValueError, "(ceildiv(6, 4), 4)", types.local_type_of, uneven, level="thread", topologies=levels)
    refused(
        ValueError,
        "bind the axis before local projection",
        types.local_type_of,
        dynamic,
        level="thread",
        topologies=levels,
    )


def test_dims():
    assert DimVar("N", 1, 9) is N
    for wrong in ((("", 1, 2)), ("N", 1.0, 2), ("N", True, 2)):
        refused(TypeError, "DimVar", DimVar, *wrong)
    refused(ValueError, "lo < hi", DimVar, "N", 2, 2)
    refused(TypeError, "", dims.simplify_dim, dims.DimAdd(), (True, 1))
    made = dims.simplify_dim(dims.DimAdd(), (1, 2))
    assert isinstance(made, Call) and dims.normalize_dim(made) == 3  # construct only; no folding
    assert dims.ceildiv(7, 2) == 4 and dims.normalize_dim(dims.ceildiv(N, 2)) == dims.normalize_dim((N + 1) // 2)
    for swapped in (3 + N, 3 - N, 3 * N, 3 // N, 3 % N, 1 + (N + 2)):
        assert dims.is_dim_expr(swapped)
    with pytest.raises(TypeError):
        Call(hir.Unary(hir.UnaryKind.EXP), (Var("x", T),)) + 1


def test_a_weight_is_a_parameter():
    @func
    def f(w: ConstTensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return w

    assert f.params[0].is_const and f.params[0].type == make_tensor_type((8,), "f32")


# -- 2. core


def test_metadata():
    span = core.SourceSpanMetadata("f.py", 1, 2, 1, 3)
    value = Call(hir.Unary(hir.UnaryKind.EXP), (Var("x", T),), metadata=(span, core.BindingMetadata("y")))
    assert core.binding_name(value) == "y" and core.diagnostic_location(value) is not None
    bare = core.remove_metadata(value, core.BindingMetadata)
    assert bare == value and hash(bare) == hash(value) and repr(bare) == repr(value)
    assert core.get_metadata(bare, core.BindingMetadata) is None
    assert core.binding_name(core.replace_metadata(bare, core.BindingMetadata("z"))) == "z"
    refused(
        ValueError,
        "more than one BindingMetadata",
        Constant,
        1.0,
        TensorType.scalar("f32"),
        (core.BindingMetadata("a"), core.BindingMetadata("b")),
    )


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("VerifyError", diagnostics.TileFoundryError),
        ("EvalError", diagnostics.TileFoundryError),
        ("AnalysisError", diagnostics.TileFoundryError),
        ("OverloadError", diagnostics.TileFoundryError),
        ("SpecializationError", ValueError),
        ("NotProjectable", ValueError),
        ("DimSubstitutionError", diagnostics.TileFoundryError),
        ("ExtractError", NotImplementedError),
    ],
)
def test_error_kinds(name, base):
    kind = getattr(diagnostics, name)
    assert issubclass(kind, base) and issubclass(kind, diagnostics.TileFoundryError)


def test_aliases_win_and_singletons_are_one():
    assert hir.Where() is hir.Where()
    with pytest.raises(ValueError):
        register_alias("tf", "elementwise", "add", inputs_of(hir.Binary))(lambda: hir.Binary(hir.BinaryKind.SUB))


# -- 3. modules


def fn(name="f", is_const=False, type_=T):
    x = Var("x", type_, is_const)
    return Function(name, (x,), x, type_)


def test_modules():
    refused(ValueError, "names must be disjoint", Module, "m", (fn(), fn()))
    refused(
        ValueError, "duplicate topology name", Module, "m", (fn(),), topologies=(Topology("cta", 1), Topology("cta", 2))
    )
    child = Module("c", (fn(),), target=CpuTarget())
    refused(ValueError, "declares its own target", Module, "m", (), modules=(child,))
    m = Module("m", (fn(),), topologies=(Topology("cta", 1),))
    refused(ValueError, "declares no target", m.resolve_target)
    refused(ValueError, "available levels: cta", m.resolve_topology, "warp")
    refused(ValueError, ("no entry", "lookup", "functions: f"), m.entry_function)
    refused(ValueError, "no function 'g'", m.lookup, "g")
    refused(TypeError, "must be a Target", Module, "m", (fn(),), target="cuda")
    assert m.function_named("f") == (m.lookup("f"),) and m.function_named("g") == ()
    refused(
        ValueError,
        "weight 'x' is declared as",
        lambda: Module("m", (fn("f", True), fn("g", True, make_tensor_type((3,))))).weights,
    )
    refused(AttributeError, "'_f'", lambda: m._f)
    refused(AttributeError, "it has: f", lambda: m.g)
    refused(TypeError, "call one of: f", m)
    refused(ValueError, "", tilefoundry.ir.select, m, "a..b")
    assert tilefoundry.ir.select(m, "") is m
    shared = Module("c", (fn(),))
    first, second = Module("a", (), modules=(shared,)), Module("b", (), modules=(shared,))
    assert first.modules[0].owner is first and second.modules[0].owner is second


# -- 4. functions


def test_a_prototype_partitions_its_envelope():
    v = make_tensor_type((N,), "f32")

    def variant(lo, hi):
        return dataclasses.replace(fn(type_=v), specializations=(DimVarRangePat("N", lo, hi),))

    for ranges, words in (
        (((1, 4), (5, 9)), "gap or overlap at 4"),
        (((1, 5), (5, 8)), "cover [1,8) but the envelope is [1,9)"),
    ):
        made = Function("f", (Var("x", v),), None, v, variants=tuple(variant(*r) for r in ranges))
        refused(tilefoundry.VerifyError, words, tilefoundry.ir.verify_function, made)


# -- 5. layouts


def test_layouts_and_meshes():
    refused(ValueError, "extent must be explicit", Topology, "cta", None)
    refused(ValueError, "None", lambda: shard.Mesh((Topology("cta", 4),), Layout((None,))))
    assert shard.states_consistent_positions(make_mesh((2, 3)))
    assert shard.try_c_order_strides((N, 4)) is None and shard.c_order_strides((3, 4)) == (4, 1)
    assert Layout((2, 3)).strides is None and shard.apply(Layout((2, 3)), (1, 1)) == 3  # column-major
    half = make_mesh((4, 2), ("a", "b"))[1:3, 0]
    assert half.layout == ComposedLayout(None, half.layout.offset, half.layout.outer)
    refused(ValueError, "", lambda: make_mesh((4,))[2:6])
    refused(ValueError, "", lambda: make_mesh((4,))[2:2])
    refused(TypeError, "step 1", lambda: make_mesh((4,))[0:4:2])
    refused(ValueError, "injective", lambda: shard.Mesh((Topology("cta", 4),), Layout((2, 2), (1, 1))))
    both = ShardLayout(Layout((128,)), (Split(0), Split(0)), make_mesh((4, 32)))
    assert shard.shard_layout_local_shape(both) == (1,)
    kept = ShardLayout(Layout((128,)), (Broadcast(), Partial()), make_mesh((4, 32)))
    assert shard.shard_layout_local_shape(kept) == (128,)
    open_ = ShardLayout(Layout((N, 4)), (Split(1),), make_mesh((4,)))
    assert shard.shard_layout_local_shape(open_, require_static=False) == (N, 1)
    refused(ValueError, "not static after sharding", shard.shard_layout_local_shape, open_)
    other = ShardLayout(Layout((N,)), (Split(0),), make_mesh((4,)))
    refused(ValueError, "bind symbolic dimensions", shard.shard_layout_local_shape, other, require_static=False)
    assert callable(hir.derive_output_shard_layout)


# -- 6. targets


def test_targets():
    target = CudaTarget("nvidia.h200_sxm")
    assert target == default_target() and target.arch == "sm_90a" and target.topology_levels == ("cta", "thread")
    refused(ValueError, "warp", validate_program_topology, (Topology("warp", 4),), target)
    refused(ValueError, "1024", validate_program_topology, (Topology("thread", 2048),), target)
    validate_program_topology((Topology("cta", 1 << 30),), target)
    assert CudaTarget("nvidia.b200_sxm").arch == "sm_100a"
    assert CpuTarget().isa == "x86-64-v3"
    for isa in ("x86-64-v2", "x86-64-v4", "aarch64"):
        assert CpuTarget(isa).isa == isa
    refused(ValueError, "native", CpuTarget, "native")


# -- 7. front end


def test_unknown_ops_are_attribute_errors():
    refused(AttributeError, "no op named 'nothing'", getattr, tf, "nothing")
    refused(AttributeError, "no op named 'nothing'", getattr, dsl.T, "nothing")


def test_tuple_of_children_and_methods():
    @module
    class Child:
        @func
        def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            return x * 2.0

    @module
    class M:
        layers = (Child.renamed("a"), Child.renamed("b"))

        def forward(self, x):
            for child in (self.a, self.b):
                x = child.f(x)
            return x

    assert torch.equal(M(torch.ones(8)), torch.full((8,), 4.0))


# -- 8. ops


def test_words_of_ops():
    x, y = Var("x", T), Var("y", make_tensor_type((4, 8), "f32", "smem"))
    refused(tilefoundry.VerifyError, "operands have conflicting storage", Call, hir.Binary(hir.BinaryKind.ADD), (x, y))
    refused(tilefoundry.VerifyError, "storage change requires", Call, hir.Reshard(storage="smem"), (x,))

    @func
    def window(x: Tensor[(N, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
        return x[4:6]

    refused(tilefoundry.EvalError, "Slice window exceeds axis 0", evaluate, window, torch.zeros(4, 4))
    with pytest.raises(ValueError):
        evaluate(window, torch.zeros(5, 4))


def test_inconsistent_binding():
    @func
    def add(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x + y

    refused(tilefoundry.EvalError, "inconsistent binding", evaluate, add, torch.zeros(3), torch.zeros(4))
    for entry in (tilefoundry.lower, tilefoundry.build, tilefoundry.compile):
        refused(TypeError, "expected a Module", entry, add)


@func(topologies=(Topology("thread", 4),))
def partial(x: Tensor[(8, 4), "f32"]) -> Tensor[(8, 8), "f32"]:
    with Mesh(("thread",), (4,), ("t",)) as m:
        a = tf.reshard(x, (8, 4 @ m.t), "rmem")
        b = tf.reshard(tf.transpose(x, perm=(1, 0)), (4 @ m.t, 8), "rmem")
        return tf.reshard(a @ b, (8, 8), "gmem")


def test_only_a_reshard_completes_a_partial():
    x = torch.arange(32, dtype=torch.float32).reshape(8, 4)
    assert torch.equal(evaluate(partial, x), x @ x.T)
    (product,) = partial.entry_function().body.args
    held = product if isinstance(product.target, hir.MatMul) else product.args[0]
    assert held.type.layout.attrs == (P("sum"),)
    refused(tilefoundry.VerifyError, "reshard", Call, hir.Unary(hir.UnaryKind.SQUARE), (Var("p", held.type),))


# -- 10. names

EXPORTS = {
    tilefoundry: """func prim_func intrinsic module lower build compile jit load tune check evaluate normalize_to_module
        CompilerOptions as_script view DType TensorType TupleType Type DimVar DimVarRangePat Layout ComposedLayout
        LayoutBase Mesh Topology Split Partial Broadcast Dynamic ShardLayout S P B Var Call Constant Op VerifyError
        EvalError TileFoundryError""",
    tilefoundry.runtime: """PREDICATES Absolute AllClose CompiledModule Cosine DictResource EntryABI Equal MaxAbs MaxRel
        NanInf OutputCheck ParamABI Predicate PredicateResult Preprocessed RelL2 Report RuntimeFunction RuntimeModule
        RuntimeResource SafetensorsResource Ulp check entry_abi_of param_abi_of runtime_func runtime_module""",
    core: """get_metadata replace_metadata remove_metadata binding_name diagnostic_location BindingMetadata
        SourceSpanMetadata ExecutionDomainMetadata ScheduleConstraintMetadata ParamDef ScalarPat TensorPat AndPat
        register_op register_alias""",
    dims: """DimConst DimAdd DimSub DimMul DimFloorDiv DimMod DimMin DimMax dim_min dim_max ceildiv is_dim_expr
        simplify_dim normalize_dim""",
    shard: """c_order_strides try_c_order_strides states_consistent_positions make_mesh composed level_projection
        canonical_shard_layout shard_layout_local_shape size cosize apply idx2crd crd2idx coalesce complement
        left_inverse right_inverse is_inverse_projectable image project contains""",
    tilefoundry.ir: """variant_for specialize_function specialize_concretely residual_dims dim_vars_reached is_concrete
        origin_of bound_dims_of select function_selectors""",
}


@pytest.mark.parametrize("home", EXPORTS, ids=lambda home: home.__name__)
def test_names_are_where_the_surface_has_them(home):
    assert [name for name in EXPORTS[home].split() if not hasattr(home, name)] == []


OPS = """add sub mul div floor_div mod min max minimum maximum cmp_eq cmp_ne cmp_lt cmp_le cmp_gt cmp_ge logical_and
    logical_or neg abs logical_not rsqrt exp log square ceil round exp2 log2 clamp softplus relu sigmoid tanh silu gelu
    softmax rms_norm layer_norm rope matmul conv2d mma_sm80_16x8x16 wgmma_sm90_64x128x16 reshape transpose slice concat
    stack split tuple_get_item cast reduce argmax topk index_select index_add index_copy insert_slice cache_update
    repeat_interleave where full_like zeros arange rank shape_of quant reshard local"""


def test_every_op_of_the_catalogue_has_its_name():
    assert [name for name in OPS.split() if not hasattr(tf, name)] == []
