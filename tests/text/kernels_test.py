"""Kernels print as ``@prim_func`` and read back; what a program cannot write is refused by name."""

from __future__ import annotations

import pytest

from examples.attention.program import attention_module
from tests.compiler import programs as compiled
from tests.text.kernels import KERNELS
from tests.text.programs import PRELUDE
from tests.text.reading import Program, assert_round_trip, execute
from tilefoundry import as_script, lower
from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir import Module
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.tir import PrimFunction


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels(name: str) -> None:
    made = {k: v for k, v in execute(PRELUDE + KERNELS[name]).items() if isinstance(v, Program)}
    assert made
    for program in made.values():
        assert_round_trip(program)
        if isinstance(program, Module):
            assert canonical_module_text(program) == canonical_module_text(program.cloned())


def test_a_kernel_with_its_module() -> None:
    module = execute(PRELUDE + KERNELS["a module of kernels"])["Kernels"]
    assert isinstance(module, Module)
    kernel = module.lookup("double")
    assert isinstance(kernel, PrimFunction)
    script = as_script(kernel, module)
    assert 'entry="double"' in script and "CudaTarget" in script


@pytest.mark.parametrize(
    "module",
    [compiled.ScaleRows, compiled.RowMean, compiled.matmul(64, "bf16"), attention_module(64)],
    ids=lambda m: m.name,
)
def test_lowered_programs_have_a_key_and_no_script(module: Module) -> None:
    lowered, again = lower(module), lower(module)
    assert canonical_module_text(lowered) == canonical_module_text(again)
    assert canonical_module_text(lowered) != canonical_module_text(module)
    with pytest.raises(ExtractError, match="MemorySpan|has no spelling") as caught:
        as_script(lowered)
    assert caught.value.remedy
