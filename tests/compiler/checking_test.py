"""Checking mode: faults in kernels are found, named and told apart, through jit; right kernels report nothing."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
import torch

import tilefoundry
from examples.attention.program import attention_module
from examples.attention.reference import TORCH_DTYPES, attention_f64, expectations
from tests.compiler import checking_programs as programs
from tilefoundry import CompilerOptions
from tilefoundry.diagnostics import CheckingError, CompileError, LaunchError, VerifyError
from tilefoundry.runtime import check

CHECKING = CompilerOptions(optimization_level=1, checking=True)


def checked(program: Any) -> Any:
    return tilefoundry.jit(program, target="cpu", options=CHECKING)


# program: what the finding says
FAULTS = {
    "no_barrier": r"'no_barrier': uninitialised read in copy: instance \(cta 0, thread 0\) reads 'tile'\(3, 0\)"
    ", which nobody has written before it; without a barrier, others write later",
    "barrier_of_half": r"uninitialised read in copy: instance \(cta 0, thread 63\) reads 'tile'\(2, 31\), which nobody "
    "has written before it",
    "tile_reused": r"race in copy: instance \(cta 0, thread \d+\) \w+ 'tile'\(\d, \d+\), which instance "
    r"\(cta 0, thread \d+\) \w+, and no barrier lies between the two",
    "off_by_one": r"out of bounds in copy: instance \(cta 0, thread 96\) reads 'a'\(4, 0\), which is outside of the "
    r"shape \(4, 32\)",
    "unset": r"uninitialised read in binary: instance \(cta 0, thread 0\) reads 'acc'\(0, 0\), which nobody "
    "has written",
    "counter_unset": r"uninitialised read in binary: instance \(cta 0, thread 0\) reads 'n', which nobody has written",
    "counter_of_some": r"uninitialised read in the kernel's body: instance \(cta 0, thread 32\) reads 'n', which "
    "nobody has written",
    "row_left_out": r"'row_left_out': unwritten output: 32 of 128 elements of 'o' were never written, the first is "
    r"'o'\(3, 0\)",
    "twice_written": r"kernel 'each_cta': conflicting writes in copy: instance \(cta 1, thread 0\) writes 'o'\(0, 0\), "
    r"to which instance \(cta 0, thread 0\) wrote another value",
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_is_found_and_named(name: str) -> None:
    kernel = checked(getattr(programs, name))
    texts = set()
    for _ in range(2):  # the same finding each time
        with pytest.raises(CheckingError) as caught:
            kernel(torch.arange(128.0).reshape(4, 32))
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert re.search(FAULTS[name], texts.pop())


def test_a_divergent_barrier_is_refused_before_it_can_run() -> None:
    with pytest.raises(VerifyError, match="the condition of the 'if' at line .* lets only some of them come"):
        programs.divergent()


def test_a_right_kernel_reports_nothing() -> None:
    a = torch.randn(4, 32)
    assert torch.equal(checked(programs.flipped)(a), a.flip(0))


@pytest.mark.parametrize(("dim", "dtype", "causal"), [(32, "f32", False), (64, "bf16", True), (128, "f16", False)])
def test_attention_reports_nothing(dim: int, dtype: str, causal: bool) -> None:
    kernel = checked(attention_module(dim, dtype, causal))
    for length in (1, 7, 65):
        tensors = tuple(torch.randn(2, length, dim).to(TORCH_DTYPES[dtype]) for _ in range(3))
        report = check(
            kernel, lambda q, k, v: attention_f64(q, k, v, causal), tensors, expect={"output": expectations(dtype)}
        )
        assert report.passed, str(report)


def test_a_finding_is_a_launch_error_that_travels() -> None:
    with pytest.raises(LaunchError) as caught:
        checked(programs.unset)(torch.zeros(4, 32))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copy, CheckingError) and str(copy) == str(caught.value)


def test_a_call_after_a_finding_is_a_fresh_one() -> None:
    kernel, a = checked(programs.flipped), torch.randn(4, 32)
    with pytest.raises(CheckingError):
        checked(programs.no_barrier)(a)
    assert torch.equal(kernel(a), a.flip(0))


def test_without_checking_nothing_is_asked() -> None:
    plain = tilefoundry.jit(programs.row_left_out, target="cpu")
    out = torch.full((4, 32), 7.0)
    a = torch.randn(4, 32)
    plain(a, out)
    assert torch.equal(out[:3], a[:3]) and bool((out[3] == 7).all())
    assert "CheckedCall" not in plain.source and '"r"' not in plain.source


def test_checking_runs_on_the_cpu_only() -> None:
    with pytest.raises(CompileError, match=r"checking mode runs on the CPU, and the target is 'cuda'\n  help: compile"):
        tilefoundry.jit(programs.flipped, target="cuda", options=CHECKING)
