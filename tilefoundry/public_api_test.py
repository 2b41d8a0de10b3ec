"""The public API: every name resolves, the three lists agree, and importing it loads nothing heavy."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tilefoundry

# What authors import from where (the reference surface, sections 7 and 10).
SURFACE = {
    "tilefoundry": (
        *("func", "module", "prim_func", "intrinsic", "evaluate", "lower", "build", "compile", "jit", "tune"),
        *("normalize_to_module", "CompilerOptions", "as_script", "view", "check", "load", "PassManager", "DumpScope"),
    ),
    "tilefoundry.dsl": (
        *("Tensor", "ConstTensor", "tf", "T", "DimVar", "DimVarRangePat", "Mesh", "Topology", "S", "P", "B", "Split"),
        *("Partial", "Broadcast", "ceildiv", "ReduceKind", "UnaryKind", "BinaryKind", "tile", "launch", "Dynamic"),
        *("Layout", "ComposedLayout", "ShardLayout", "DType", "TensorType", "StorageKind", "storage"),
        "where",
    ),
    "tilefoundry.dsl.storage": ("gmem", "smem", "rmem", "host", "tmem", "umat"),
    "tilefoundry.target": (
        *("Target", "CudaTarget", "CpuTarget", "default_target", "register_target", "validate_program_topology"),
    ),
    "tilefoundry.evaluator": ("evaluate",),
    "tilefoundry.ir.core.module": ("Module", "LoadedModule"),
    "tilefoundry.ir.types": (
        *("DType", "StorageKind", "TensorType", "TupleType", "UnitType", "CallableType", "make_tensor_type", "numel"),
        *("make_shard_tensor_type", "tensor_bytes", "local_type_of", "resolve_storage"),
    ),
    "tilefoundry.ir": (
        *("select", "function_selectors", "variant_for", "specialize_function", "specialize_concretely", "Module"),
        *("residual_dims", "dim_vars_reached", "is_concrete", "origin_of", "bound_dims_of", "Function", "Var", "Call"),
        *("Constant", "Tuple", "Expr", "Op", "GridRegionExpr", "register_op", "register_alias"),
    ),
    "tilefoundry.ir.dims": (
        *("DimVar", "DimConst", "DimAdd", "DimSub", "DimMul", "DimFloorDiv", "DimMod", "DimMin", "DimMax", "dim_min"),
        *("dim_max", "ceildiv", "is_dim_expr", "simplify_dim", "normalize_dim"),
    ),
    "tilefoundry.ir.shard": (
        *("Layout", "ComposedLayout", "Topology", "Mesh", "make_mesh", "states_consistent_positions", "composed"),
        *("level_projection", "Split", "Broadcast", "Partial", "Dynamic", "ShardLayout", "canonical_shard_layout"),
        *("shard_layout_local_shape", "c_order_strides", "try_c_order_strides", "size", "cosize", "apply", "idx2crd"),
        *("coalesce", "complement", "left_inverse", "right_inverse", "is_inverse_projectable", "image", "project"),
        *("contains", "composition", "crd2idx"),
    ),
    "tilefoundry.ir.hir": ("derive_output_shard_layout", "GridRegionExpr", "BinaryKind", "UnaryKind", "ReduceKind"),
    "tilefoundry.ir.core": (
        *("BindingMetadata", "SourceSpanMetadata", "ExecutionDomainMetadata", "ScheduleConstraintMetadata", "AndPat"),
        *("get_metadata", "replace_metadata", "remove_metadata", "binding_name", "diagnostic_location", "ParamDef"),
        *("IRMetadata", "ScalarPat", "TensorPat", "DimVarRangePat"),
    ),
    "tilefoundry.diagnostics": (
        *("VerifyError", "EvalError", "AnalysisError", "SpecializationError", "NotProjectable", "ScheduleError"),
        *("DimSubstitutionError", "OverloadError", "ExtractError", "CompileError", "LaunchError", "TileFoundryError"),
    ),
}


@pytest.mark.parametrize(("home", "name"), [(home, name) for home, names in SURFACE.items() for name in names])
def test_the_surface_is_there(home: str, name: str) -> None:
    assert hasattr(importlib.import_module(home), name), f"{home}.{name}"


@pytest.mark.parametrize("name", tilefoundry.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(tilefoundry, name)
    assert value is not None
    assert getattr(tilefoundry, name) is value, "a name must mean the same object each time"


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(tilefoundry.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {
        (a.asname, n.module) for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names if a.name == a.asname
    }
    assert seen == {(name, home) for home, names in tilefoundry._HOMES.items() for name in names}


def test_dir_lists_what_is_not_loaded_yet() -> None:
    assert set(tilefoundry.__all__) <= set(dir(tilefoundry))
    assert tilefoundry.__all__ == sorted(set(tilefoundry.__all__))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'tilefoundry' has no attribute 'nothing'"):
        getattr(tilefoundry, "nothing")  # noqa: B009
    with pytest.raises(ImportError, match="nothing"):
        exec("from tilefoundry import nothing")


def test_import_loads_no_torch() -> None:
    code = (
        "import sys, tilefoundry\n"
        "heavy = {'torch', 'numpy', 'tvm_ffi', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "tilefoundry.func, tilefoundry.module, tilefoundry.DType, tilefoundry.VerifyError\n"
        "heavy = {'torch', 'numpy', 'tvm_ffi', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(p for p in sys.path if p)})
