"""The launcher ABI, and its form as JSON."""

import ast
import inspect
import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims import DimVar, ceildiv
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType
from tilefoundry.runtime.abi import EntryABI, KernelLaunch, ParamABI, entry_abi_of, param_abi_of
from tilefoundry.runtime.abi_json import describe_library, read_description

N = DimVar("N", 1, 100)
X = ParamABI("x", TensorType((N, 4), DType.bf16, None, StorageKind.GMEM))
Y = ParamABI("y", TensorType((ceildiv(N, 2), 4), DType.f32, Layout((ceildiv(N, 2), 4), (4, 1)), StorageKind.GMEM))
S = ParamABI("s", TensorType.scalar(DType.i32))


def test_counts_and_slices() -> None:
    entry = EntryABI("f", (S, X, Y), 1)
    assert (entry.input_count, entry.input_params, entry.output_params) == (2, (S, X), (Y,))
    with pytest.raises(FrozenInstanceError):
        entry.name = "g"  # type: ignore[misc]


@pytest.mark.parametrize("count", [-1, 3])
def test_output_count_is_within_the_parameters(count: int) -> None:
    with pytest.raises(ValueError, match=f"output_count is {count}, expected 0..2"):
        EntryABI("f", (X, Y), count)


def test_an_alias_pairs_an_output_with_an_input() -> None:
    assert EntryABI("f", (X, Y), 1, (("y", "x"),)).aliases == (("y", "x"),)
    with pytest.raises(ValueError, match="alias 'x' of 'y' does not pair"):
        EntryABI("f", (X, Y), 1, (("x", "y"),))


def test_a_parameter_is_a_tensor() -> None:
    assert param_abi_of(Var("x", X.type)) == X
    with pytest.raises(TypeError, match="parameter 'p' has type"):
        param_abi_of(Var("p", TupleType((X.type,))))


def test_a_function_has_no_output_parameters() -> None:
    x = Var("x", X.type)
    assert entry_abi_of(Function("f", (x,), x, X.type)) == EntryABI("f", (X,), 0)


def test_one_function_derives_parameters() -> None:
    """Whatever else has a ParamABI changes one, or reads one back (runtime spec, 1.1.1)."""
    package = Path(inspect.getfile(param_abi_of)).parents[1]
    makers = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if not file.name.endswith("_test.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ParamABI"
    }
    assert makers <= {"runtime/abi.py", "runtime/abi_json.py", "driver/axpy_units.py"}  # the last is written by hand
    assert "runtime/abi.py" in makers


def test_json_round_trip() -> None:
    entry = EntryABI("f", (S, X, Y), 1, (("y", "x"),))
    kernels = (KernelLaunch("f", None, ceildiv(N, 64), 128, 1024), KernelLaunch("g", N, 3, 1, 0, True))
    data = json.loads(json.dumps(describe_library(entry, kernels, "cuda", "text", "sm_90a")))
    assert data["target"] == {"name": "cuda", "isa": "sm_90a", "text": "text"}
    assert read_description(data) == (entry, kernels)


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format 99, expected 2"):
        read_description({"format": 99})
