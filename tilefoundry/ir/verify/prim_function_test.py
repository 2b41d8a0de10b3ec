"""The rules of kernels, on statements built by hand; tilefoundry/python/prim holds those that authors can break."""

from dataclasses import dataclass, replace

import pytest

from tilefoundry.diagnostics import SourceSpan, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Call, Constant, DimVarRangePat, Function, Module, SourceSpanMetadata, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_add
from tilefoundry.ir.hir import Binary, BinaryKind, Unary, UnaryKind
from tilefoundry.ir.shard import Layout, Mesh, ShardLayout, Split, Topology, composed
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type
from tilefoundry.ir.verify import verify_module, verify_prim_function
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("N", 1, 9)
IO = make_tensor_type((N, 8), "f32")
MESH = Mesh((Topology("thread", 32),), Layout((4, 8)), ("g", "l"))
LAYOUT = ShardLayout(Layout((4, 8), (0, 0)), (Split(0), Split(1)), MESH)
FRAGMENT = TensorType((4, 8), DType.f32, LAYOUT, StorageKind.RMEM)
FLAG = TensorType((), DType.bool, None, StorageKind.RMEM)
SPAN = SourceSpanMetadata("author.py", 7, 3, 7, 9)
G_OF_M = make_tensor_type((DimVar("M", 1, 9), 8), "f32")
COLUMNS = TensorType((4, 8), DType.f32, Layout((4, 8), (1, 4)), StorageKind.GMEM)
A, B, OUT = Var("a", IO), Var("b", IO), Var("o", IO)


def alloc(name="r", type_=FRAGMENT):
    return tir.Binding(Var(name, type_), Call(tir.AllocTensor(type_), ()))


def fn(*items, params=(A, OUT), name="k", **fields):
    return tir.PrimFunction(name, params, tir.fold(items), **fields)


def scoped(*items):
    return tir.MeshScope(MESH, "m", tir.fold(items))


def effect(op, *args, **fields):
    return tir.Evaluate(op, args, **fields)


def integer(value):
    return Constant(value, tir.EXTENT_TYPE)


ONE, WARP = (integer(1),), (integer(32),)


def launch(callee="dev", grid=ONE, block=WARP, args=(A, OUT)):
    return effect(tir.Launch(), tir.SymbolRef(callee), Tuple(args), Tuple(grid), Tuple(block))


def dispatch(**changed):
    call = effect(tir.SymbolRef("dev"), A, OUT)
    fields = {
        "callee_name": "dev",
        "subjects": (tir.ShapeOf(A, 0),),
        "case_patterns": (DimVarRangePat("N", 1, 5), DimVarRangePat("N", 5, 9)),
        "case_calls": (call, call),
        "fallback": tir.Abort("no"),
    }
    return tir.DispatchCall(**{**fields, **changed})


R, F, IV = alloc(), alloc("flag", FLAG), Var("i", INDEX_TYPE)
FILL = effect(tir.Fill(0.0), R.var)
DEV = fn(effect(tir.Copy(), A, OUT), name="dev")
LOOSE = Var("x", INDEX_TYPE)

WELL_FORMED = {
    "nothing": fn(),
    "a fragment": fn(scoped(R, FILL)),
    "a loop up to an extent": fn(tir.For(IV, 0, N, 1, tir.Return())),
    "a loop up to what the caller passes": fn(
        tir.For(Var("i", tir.EXTENT_TYPE), 0, tir.ShapeOf(A, 0), 1, tir.Return())
    ),
    "a branch": fn(F, tir.If(F.var, tir.Return(), tir.Abort("no"))),
    "a while": fn(F, tir.While(F.var, effect(tir.Fill(False), F.var))),
    "a call": fn(effect(tir.SymbolRef("dev"), A, OUT), callees=(DEV,)),
    "a dispatch": fn(dispatch(), callees=(DEV,)),
    "a launch": fn(launch(), callees=(DEV,), target=CpuTarget()),
    "a launch over an extent": fn(launch(grid=(tir.ShapeOf(A, 0),)), callees=(DEV,)),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed_kernels_pass(name):
    verify_prim_function(WELL_FORMED[name])


@dataclass(frozen=True, slots=True)
class Foreign(tir.Stmt):
    """A statement of nobody's."""


ATOM = next(iter(tir.ATOMS.values()))


def over(mesh, fragment):
    """A tensor that holds a fragment of an instruction, spread over this mesh."""
    layout = ShardLayout(fragment.layout, fragment.attrs, mesh)
    return alloc("f", TensorType(fragment.shape, fragment.dtype, layout, StorageKind.RMEM))


def product(scope, mesh):
    """A matrix instruction in a scope, on fragments over a mesh."""
    operands = [over(mesh, fragment) for fragment in ATOM.fragments]
    multiply = effect(tir.Mma(ATOM), *(o.var for o in operands))
    inside = tir.MeshScope(scope, "m", tir.fold([*operands, multiply]))
    return fn(inside if mesh == scope else tir.MeshScope(mesh, "o", inside))


WARP_SCOPE = Mesh((Topology("thread", 32),), ATOM.scope, ("q", "g"))
UNNAMED_SCOPE = Mesh((Topology("thread", 32),), ATOM.scope)

FAULTS = {
    "a statement of no kind": (fn(Foreign()), "a Foreign is no statement of a kernel"),
    "a fragment over another mesh": (product(WARP_SCOPE, UNNAMED_SCOPE), "spread over another mesh than the scope's"),
    "a variable bound twice": (fn(scoped(R, R)), "'r' is bound twice"),
    "a variable of two loops": (
        fn(tir.For(IV, 0, 4, 1, tir.Return()), tir.For(IV, 0, 4, 1, tir.Return())),
        "'i' is bound twice",
    ),
    "a parameter bound again": (fn(tir.Binding(A, Call(tir.AllocTensor(IO), (), IO))), "'a' is bound twice"),
    "a value of another type": (
        fn(tir.Binding(Var("i", tir.EXTENT_TYPE), Call(tir.ProgramId("cta"), ()))),
        "'i' has the type",
    ),
    "a variable outside of its block": (fn(scoped(R), FILL), "'r' is used outside of the block that binds it"),
    "a loop variable after the loop": (
        fn(tir.For(IV, 0, 4, 1, tir.Return()), tir.For(Var("j", INDEX_TYPE), 0, IV, 1, tir.Return())),
        "'i' is used outside",
    ),
    "a variable that is never bound": (fn(effect(tir.Copy(), A, Var("x", IO))), "'x' is used and never bound"),
    "memory in an operand": (
        fn(effect(tir.Copy(), A, Call(tir.AllocTensor(IO), (), IO))),
        "allocated without a name",
    ),
    "global memory of an unknown extent": (
        fn(tir.Binding(Var("x", G_OF_M), Call(tir.AllocTensor(G_OF_M), (), G_OF_M))),
        "extent 'M' is that of no parameter",
    ),
    "global memory in columns": (
        fn(tir.Binding(Var("x", COLUMNS), Call(tir.AllocTensor(COLUMNS), (), COLUMNS))),
        "allocated row-major",
    ),
    "a mesh out of scope": (fn(R), r"axes \('g', 'l'\) is not in scope"),
    "a bound of another type": (fn(tir.For(IV, 0, tir.ShapeOf(A, 0), 1, tir.Return())), "'i' has the type"),
    "a float bound": (fn(tir.For(IV, 0, Constant(1.0, TensorType.umat_scalar("f32")), 1, tir.Return())), "a bound of"),
    "a step of nothing": (fn(tir.For(IV, 0, 4, 0, tir.Return())), "the step of 'i' is 0"),
    "a condition that is no bool": (fn(tir.If(N, tir.Return())), "a condition has the type"),
    "an extent of another kernel": (
        fn(tir.For(IV, 0, DimVar("M", 1, 9), 1, tir.Return())),
        "'M' is that of no parameter",
    ),
    "an extent of no parameter": (
        fn(tir.For(Var("i", tir.EXTENT_TYPE), 0, tir.ShapeOf(Var("b", IO), 0), 1, tir.Return())),
        "'b' is no parameter of 'k'",
    ),
    "a value op as a statement": (fn(effect(tir.ProgramId("cta"))), "ProgramId is evaluated and has no effect"),
    "an HIR op as a statement": (fn(effect(Unary(UnaryKind.EXP), A)), "Unary is evaluated and has no effect"),
    "operands that do not fit": (fn(effect(tir.Fill(True), OUT)), "'value' is True"),
    "a symbol of nothing": (fn(effect(tir.SymbolRef("dev"), A, OUT)), "symbol 'dev' names no function(.|\n)*none"),
    "a path to nothing": (
        fn(effect(tir.SymbolRef("child", ("dev",)), A, OUT), callees=(DEV,)),
        r"symbol 'child\.dev' names no function",
    ),
    "a call of another count": (fn(effect(tir.SymbolRef("dev"), A), callees=(DEV,)), r"takes 2 argument\(s\)"),
    "a call of another type": (
        fn(scoped(R, effect(tir.SymbolRef("dev"), A, R.var)), callees=(DEV,)),
        "parameter 'o' has the type(.|\n)*type mismatch",
    ),
    "a dispatch without subject": (fn(dispatch(subjects=()), callees=(DEV,)), "expected one extent"),
    "a dispatch on two": (fn(dispatch(subjects=(tir.ShapeOf(A, 0),) * 2), callees=(DEV,)), "expected one extent"),
    "a dispatch on a DimVar": (fn(dispatch(subjects=(N,)), callees=(DEV,)), "expected one extent"),
    "a dispatch on another extent": (
        fn(dispatch(subjects=(tir.ShapeOf(A, 1),)), callees=(DEV,)),
        r"a pattern is about 'N', and a\.shape\[1\] is 8",
    ),
    "a dispatch without a case": (fn(dispatch(case_patterns=(), case_calls=()), callees=(DEV,)), "0 pattern"),
    "a dispatch with a case too few": (fn(dispatch(case_calls=(DEV.body,)), callees=(DEV,)), r"2 pattern\(s\) for 1"),
    "a dispatch that calls no function": (
        fn(dispatch(case_calls=(DEV.body, DEV.body)), callees=(DEV,)),
        "a case calls no function",
    ),
    "a dispatch with two cases for one extent": (
        fn(dispatch(case_patterns=(DimVarRangePat("N", 1, 6), DimVarRangePat("N", 5, 9))), callees=(DEV,)),
        "two cases serve 5",
    ),
    "a dispatch that goes on": (fn(dispatch(fallback=tir.Return()), callees=(DEV,)), "fallback must be an Abort"),
    "a launch on a plain int": (fn(launch(grid=(1,)), callees=(DEV,)), "the plain 1, expected an expression"),
    "a launch on a DimVar": (
        fn(launch(grid=(dim_add(N, 1),)), callees=(DEV,)),
        r"names the extent 'N'(.|\n)*a\.shape\[0\]",
    ),
    "a launch on another kernel's extent": (
        fn(launch(grid=(tir.ShapeOf(A, 0),), args=(B, B)), callees=(DEV,), params=(B,)),
        "no parameter of 'k'",
    ),
    "a launch of too many threads": (fn(launch(block=(integer(2048),)), callees=(DEV,)), "above the limit 1024"),
    "a launch by a kernel": (fn(launch(), callees=(DEV,), target=CudaTarget()), "written for a GPU and launches"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_refused(name):
    kernel, words = FAULTS[name]
    with pytest.raises(VerifyError, match=words) as caught:
        verify_prim_function(kernel)
    assert caught.value.remedy or "rmem and smem" in words


def test_a_fault_is_found_at_its_statement():
    with pytest.raises(VerifyError) as caught:
        verify_prim_function(fn(effect(tir.Copy(), A, Var("x", IO), metadata=(SPAN,))))
    assert caught.value.span == SourceSpan("author.py", 7, 3, 7, 9)
    with pytest.raises(VerifyError) as caught:
        verify_prim_function(replace(fn(R), metadata=(SPAN,)))
    assert caught.value.span == SourceSpan("author.py", 7, 3, 7, 9)


def module(*functions, **fields):
    return Module("m", functions, **fields)


def test_symbols_resolve_in_the_module_and_its_children():
    call, nested = effect(tir.SymbolRef("dev"), A, OUT), effect(tir.SymbolRef("child", ("dev",)), A, OUT)
    verify_module(module(DEV, fn(call)))
    verify_module(module(fn(nested), modules=(Module("child", (DEV,)),)))
    other = fn(name="dev")
    with pytest.raises(VerifyError, match="symbol 'dev' names 2 functions"):
        verify_module(module(DEV, fn(call, callees=(other,))))
    hir = Function("dev", (A, OUT), Call(Binary(BinaryKind.ADD), (A, OUT)), IO)
    with pytest.raises(VerifyError, match="names a function of HIR"):
        verify_module(module(hir, fn(call)))
    with pytest.raises(VerifyError, match="'k' calls itself"):
        verify_module(module(fn(effect(tir.SymbolRef("k"), A, OUT))))


def test_levels_are_those_of_the_module():
    kernel = fn(scoped(R, FILL))
    verify_module(module(kernel, topologies=MESH.topologies))
    with pytest.raises(VerifyError, match="topology 'thread' of size 32 not declared"):
        verify_module(module(kernel, topologies=(Topology("thread", 64),)))


def test_sharded_parameters_bring_their_mesh():
    shared = TensorType((4, 8), DType.f32, ShardLayout(Layout((4, 8), (8, 1)), LAYOUT.attrs, MESH))
    a, o = Var("a", shared), Var("o", shared)
    verify_prim_function(fn(R, effect(tir.Copy(), a, R.var), params=(a, o)))
    with pytest.raises(VerifyError, match="'a' is sharded and 'o' is not"):
        verify_prim_function(fn(params=(a, OUT)))
    verify_prim_function(fn(params=(a, Var("n", TensorType.scalar("i32")), o)))


def test_nested_scopes_compose():
    cta = Mesh((Topology("cta", 2),), Layout((2,)), ("c",))
    both = ShardLayout(Layout((2, 4, 8), (0, 0, 0)), (Split(0), Split(1), Split(2)), composed((cta, MESH)))
    inner = alloc("x", TensorType((8, 8), DType.f32, both, StorageKind.RMEM))
    verify_prim_function(fn(tir.MeshScope(cta, "c", scoped(inner))))
    with pytest.raises(VerifyError, match="is not in scope"):
        verify_prim_function(fn(scoped(inner)))


def test_a_slice_needs_its_mesh():
    half = MESH[0:2]
    sync = effect(tir.Sync(half))
    verify_prim_function(fn(scoped(tir.MeshScope(half, "h", sync))))
    verify_prim_function(fn(scoped(sync)))
    for kernel in (fn(tir.MeshScope(half, "h", sync)), fn(sync)):
        with pytest.raises(VerifyError, match="in scope here"):
            verify_prim_function(kernel)


def test_residency_is_decided_in_a_kernel():
    undecided = Var("u", make_tensor_type((4,), "f32", "umat"))
    with pytest.raises(VerifyError, match=r"parameter 'u' has the storage umat(.|\n)*gmem"):
        verify_prim_function(fn(params=(undecided, OUT)))
    verify_prim_function(fn(params=(Var("n", TensorType.umat_scalar("i32")), OUT)))  # a scalar is passed by value
