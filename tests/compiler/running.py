"""How tests run what they compile: on the CPU, or, where a GPU is, on that.

`TILEFOUNDRY_TEST_TARGET=cuda` runs the same tests on a GPU. Tensors are made, given back and compared on the CPU.
`TILEFOUNDRY_TEST_CHECKING=1` runs them in checking mode, where a right program must report nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

import tilefoundry
from tests.compiler.precompiled.options import CPU_OPTIONS
from tilefoundry import CompilerOptions, TensorType, TupleType
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import CompiledModule, Equal, Predicate, check

TARGET = os.environ.get("TILEFOUNDRY_TEST_TARGET", "cpu")
CHECKING = os.environ.get("TILEFOUNDRY_TEST_CHECKING", "0") == "1"

OPTIONS = CPU_OPTIONS if TARGET == "cpu" else CompilerOptions()

# A kernel that finds its arguments wrong stops with a message on the CPU. A GPU traps, and the process is lost to CUDA.
needs_cpu = pytest.mark.skipif(TARGET != "cpu", reason="findings of kernels are reported on the CPU target")
# Checking mode wants outputs to be written whole.
leaves_output = pytest.mark.skipif(CHECKING, reason="the program leaves a part of its output as it was")


def built(program: Any, target: str = TARGET, options: CompilerOptions | None = None) -> CompiledModule:
    """The program, through jit, in checking mode where this run is one; a class that @module made is a Module.

    Tests ask for kernels here and nowhere else, so that the sweep in checking mode has them all.
    """
    options = options or OPTIONS
    if CHECKING and target == "cpu":
        options = replace(options, checking=True)
    return tilefoundry.jit(program, target=target, options=options)


def compiled(program: Any, options: CompilerOptions | None = None) -> Callable[..., Any]:
    """The compiled program, which takes and gives back CPU tensors; a tensor that it writes to is written to."""
    kernel = built(program, options=options)
    if TARGET == "cpu":
        return kernel

    inputs = kernel.type.input_count

    def run(*args: Any) -> Any:
        # a rank-0 input crosses by value, from wherever it is; an output is written where it lies
        there = [
            arg.to(TARGET) if isinstance(arg, torch.Tensor) and (arg.ndim or k >= inputs) else arg
            for k, arg in enumerate(args)
        ]
        result = kernel(*there)
        for arg, moved in zip(args, there, strict=True):
            if moved is not arg:
                arg.copy_(moved)
        return _home(result)

    return run


def compare(module: Module, *inputs: torch.Tensor, bounds: Sequence[Predicate]) -> None:
    """Asserts that the compiled module agrees with its evaluation in f64, rounded once to the dtype of the results.

    The bounds hold for each of several results; integers and bools must be equal.
    """
    kernel = compiled(module)

    def reference(*args: torch.Tensor) -> Any:
        return _rounded(tilefoundry.evaluate(module, *args, precision="f64"), kernel(*args))

    entry = module.entry_function()
    results = entry.return_type if isinstance(entry, Function) else None
    types = {"output": results}
    if isinstance(results, TupleType):
        types = {f"output[{k}]": field for k, field in enumerate(results.fields)}
    stated = {
        path: [Equal()] if isinstance(type_, TensorType) and not type_.dtype.is_float else list(bounds)
        for path, type_ in types.items()
    }
    report = check(kernel, reference, inputs, expect=stated)
    assert report.passed, str(report)


def _home(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.cpu()
    return tuple(map(_home, result)) if isinstance(result, tuple | list) else result


def _rounded(reference: Any, like: Any) -> Any:
    if isinstance(reference, torch.Tensor):
        return reference.to(like.dtype)
    return tuple(_rounded(r, k) for r, k in zip(reference, like, strict=True))
