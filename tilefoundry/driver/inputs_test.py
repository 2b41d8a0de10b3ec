"""What entry points accept, and how they refuse the rest."""

import pytest

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.driver.inputs import normalize_to_module, require_module, resolve_target, target_text
from tilefoundry.driver.pipeline import load
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.python.drafts import Draft
from tilefoundry.target import CpuTarget, CudaTarget, Target, default_target

X = Var("x", TensorType((4,), DType.f32, None, StorageKind.GMEM))
F = Function("f", (X,), X, X.type)
CUDA, SM_80 = CudaTarget("nvidia.h200_sxm"), CudaTarget("nvidia.h200_sxm", arch="sm_80")
CPU, OLD_CPU = CpuTarget(), CpuTarget("x86-64-v2")


def module(target: Target | None) -> Module:
    return Module("m", (F,), "f", target=target)


def test_a_function_becomes_the_entry_of_a_module() -> None:
    made = normalize_to_module(F)
    assert (made.name, made.entry, made.functions) == ("f", "f", (F,))
    assert normalize_to_module(made) is made


def test_a_python_function_is_refused() -> None:
    def step(x: object) -> object:
        return x

    with pytest.raises(TypeError, match="expected Function or Module, got the Python function 'step'\n.*@func"):
        normalize_to_module(step)  # type: ignore[arg-type]


def test_some_callers_take_modules_only() -> None:
    for function in (F, Draft.of(F)):
        with pytest.raises(TypeError, match="lower: expected a Module, got Function 'f'"):
            require_module(function, "lower")


@pytest.mark.parametrize(
    ("declared", "asked", "chosen"),
    [
        (None, None, default_target()), (None, "cuda", default_target()), (None, "cpu", CPU), (None, SM_80, SM_80),
        (CUDA, None, CUDA), (CUDA, "cuda", CUDA), (CUDA, CUDA, CUDA), (CUDA, "cpu", CPU), (CUDA, OLD_CPU, OLD_CPU),
        (SM_80, "cuda", SM_80), (CPU, "cuda", CPU), (CPU, "cpu", CPU), (OLD_CPU, "cpu", OLD_CPU),
    ],
)  # fmt: skip
def test_targets(declared: Target | None, asked: str | Target | None, chosen: Target) -> None:
    assert resolve_target(module(declared), asked) == chosen


@pytest.mark.parametrize(("declared", "asked"), [(CUDA, SM_80), (CPU, CUDA), (CPU, OLD_CPU)])
def test_a_mismatch_names_both(declared: Target, asked: Target) -> None:
    with pytest.raises(ValueError, match="declares the target") as caught:
        resolve_target(module(declared), asked)
    assert declared.canonical_text() in str(caught.value) and asked.canonical_text() in str(caught.value)


def test_unknown_targets() -> None:
    with pytest.raises(ValueError, match="unknown target 'tpu'\n.*cpu, cuda"):
        resolve_target(module(None), "tpu")
    with pytest.raises(TypeError, match="expected a string or a Target, got 3"):
        resolve_target(module(None), 3)  # type: ignore[arg-type]


def test_the_text_says_what_a_program_is_placed_for() -> None:
    assert target_text(module(CUDA), CUDA) == CUDA.canonical_text() == target_text(module(None), CUDA)
    assert target_text(module(CUDA), CPU) == f"{CPU.canonical_text()} placed for {CUDA.canonical_text()}"


def test_only_a_path_is_loaded() -> None:
    for wrong in (3, None, b"name.so", module(None)):
        with pytest.raises(WrongTypeError, match=r"load: expected the path of a library, got \w+\n.*jit compiles"):
            load(wrong)  # type: ignore[arg-type]
