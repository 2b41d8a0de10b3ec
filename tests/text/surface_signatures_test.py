"""The parameters, names and kinds that the surface fixes: programs give arguments by position and by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

import pytest

import tilefoundry
from tilefoundry.dsl import T
from tilefoundry.evaluator import evaluate
from tilefoundry.ir import core, dims, hir, shard, tir, types
from tilefoundry.target import CpuTarget, CudaTarget

# Parameters in their order: `*`: by name only, `=`: may be left out. A callable may take more, all of them optional.
SIGNATURES: dict[Callable[..., object], str] = {
    tilefoundry.lower: "mod target=",
    tilefoundry.build: "mod target=",
    tilefoundry.compile: "mod target= *options=",
    tilefoundry.jit: "fn_or_mod *target= *options=",
    tilefoundry.normalize_to_module: "fn_or_mod",
    tilefoundry.as_script: "fn_or_mod module= options=",
    tilefoundry.view: "root port=",
    tilefoundry.DumpScope: "dir flags=",
    tilefoundry.DimVar: "name lo hi",
    tilefoundry.DimVarRangePat: "dim_var lo hi",
    types.make_tensor_type: "shape dtype= storage= layout=",
    types.make_shard_tensor_type: "shape dtype storage mesh= attrs=",
    types.local_type_of: "type_ *level *topologies",
    types.resolve_storage: "value",
    types.TensorType: "shape dtype layout= storage=",
    types.TensorType.scalar: "dtype layout= storage=",
    types.TensorType.umat_scalar: "dtype=",
    types.TensorType.umat_tensor: "shape dtype=",
    types.CallableType: "return_type parameters",
    dims.simplify_dim: "op args",
    core.Var: "name type is_const=",
    core.Constant: "value type",
    core.Tuple: "elements",
    core.Call: "target args",
    core.SourceSpanMetadata: "file line column end_line end_column",
    core.ParamDef: "kind= annotation= pattern= optional= default=",
    core.register_op: "dialect= category= name=",
    core.register_alias: "dialect category name params",
    core.Module: "name functions entry= modules= target= topologies= metadata= methods=",
    core.Function: "name params body return_type specializations= variants= converters=",
    hir.GridRegionExpr: "induction_var carried_args init_args body yield_values extent step= start=",
    hir.derive_output_shard_layout: (
        "input_types relation out_shape *partial_reduction_dims= *complete_reduction_dims= *fresh_strides="
    ),
    shard.Layout: "shape strides=",
    shard.ComposedLayout: "inner offset outer",
    shard.Topology: "name size",
    shard.Mesh: "topologies layout names=",
    shard.make_mesh: "shape names= topology=",
    shard.Split: "axis",
    shard.Partial: "reduction=",
    shard.ShardLayout: "layout attrs mesh",
    shard.canonical_shard_layout: "shape mesh attrs",
    shard.shard_layout_local_shape: "sl require_static=",
    tir.LetStmt: "var value body",
    tir.MeshScope: "mesh binding body",
    tir.DispatchCall: "callee_name subjects case_patterns case_calls fallback",
    tir.Abort: "message",
    tir.PrimFunction: "name params body output_count= target=",
    tir.SymbolRef: "name nested=",
    tir.ShapeOf: "param axis",
    tir.Launch: "cluster= dynamic_smem= stream= attrs=",
    CudaTarget: "device= architecture= *arch=",
    CpuTarget: "isa=",
}


def spelled(parameter: inspect.Parameter) -> str:
    """One entry of the table."""
    by_name = "*" if parameter.kind is inspect.Parameter.KEYWORD_ONLY else ""
    return f"{by_name}{parameter.name}" + ("" if parameter.default is inspect.Parameter.empty else "=")


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda f: getattr(f, "__qualname__", "jit"))
def test_signatures(function: Callable[..., object]) -> None:
    stated = SIGNATURES[function].split()
    found = [spelled(p) for p in inspect.signature(function).parameters.values()]
    assert found[: len(stated)] == stated
    assert all(name.endswith("=") for name in found[len(stated) :])


def test_evaluate_takes_inputs_by_position_and_options_by_name() -> None:
    first, inputs, *options = inspect.signature(evaluate).parameters.values()
    assert (first.kind, inputs.kind) == (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    defaults = {p.name: p.default for p in options}
    stated = {"backend": "torch", "device": None, "mesh": None, "precision": "declared"}
    assert {name: defaults[name] for name in stated} == stated


def test_defaults_that_the_surface_states() -> None:
    assert inspect.signature(tilefoundry.jit).parameters["target"].default == "cuda"
    assert inspect.signature(tilefoundry.view).parameters["port"].default == 0
    f32 = types.make_tensor_type((4,))
    assert (f32.dtype, f32.storage, f32.layout) == (types.DType.f32, types.StorageKind.GMEM, None)


def test_compiler_options_are_frozen_and_have_a_text() -> None:
    options = tilefoundry.CompilerOptions()
    assert isinstance(options.canonical_text(), str)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.checking = True  # type: ignore[misc]


KINDS = {
    hir.BinaryKind: "add sub mul div floor_div mod min max eq ne lt le gt ge and or",
    hir.UnaryKind: "neg abs rsqrt cast not relu square exp log ceil round exp2 log2",
    hir.ReduceKind: "mean sum abs_max max",
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_kinds(kind: type[hir.BinaryKind]) -> None:
    assert [word for word in KINDS[kind].split() if word.upper() not in kind.__members__] == []
    assert [word for word in KINDS[kind].split() if kind[word.upper()].value != word] == []


def test_kinds_are_shared_by_hir_and_tir() -> None:
    assert tir.Binary(hir.BinaryKind.ADD).kind is hir.Binary(hir.BinaryKind.ADD).kind
    assert tir.Unary(hir.UnaryKind.EXP).kind is hir.Unary(hir.UnaryKind.EXP).kind
    assert tir.Reduce((0,), hir.ReduceKind.SUM).kind is hir.Reduce((0,), True, hir.ReduceKind.SUM).kind


STATEMENTS = """Sequential LetStmt For While If MeshScope Return Evaluate DispatchCall Abort PrimFunction SymbolRef
    ShapeOf AllocTensor MemorySpan PtrOf TensorView Copy Fill Binary Unary Clamp ReLU RMSNorm Reduce Mma Sync CopyAsync
    CpAsyncCommit CpAsyncWait Launch"""
KERNEL_OPS = """alloc_tensor tensor_view ptr_of copy fill binary unary clamp reduce relu rms_norm mma sync copy_async
    cp_async_commit cp_async_wait"""


def test_the_statements_and_ops_of_kernels_have_their_names() -> None:
    assert [name for name in STATEMENTS.split() if not hasattr(tir, name)] == []
    assert [name for name in KERNEL_OPS.split() if not hasattr(T, name)] == []
    named = T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN
    assert T.cuda.mma.atom(op="SM80_16x8x16_F32BF16BF16F32_TN") is named
