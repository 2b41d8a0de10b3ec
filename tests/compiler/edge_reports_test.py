"""Faults of the boundary that users of such systems reported, each with the right behaviour, on generated kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import torch

from tests.compiler import edge_programs as programs
from tests.compiler.running import TARGET, built
from tilefoundry.diagnostics import ArgumentTypeError
from tilefoundry.driver.toolchain import find_cuda

KIND = {"cpu": "kDLCPU", "cuda": "kDLCUDA"}[TARGET]


NARROW = {"fp8e4m3": torch.float8_e4m3fn, "fp8e5m2": torch.float8_e5m2, "u8": torch.uint8, "i8": torch.int8}


@pytest.mark.parametrize("dtype", NARROW)
def test_types_of_eight_bits_cross_as_what_the_signature_says(dtype: str) -> None:
    """F4."""
    x = torch.arange(32.0, device=TARGET).reshape(1, 32).to(NARROW[dtype])
    kernel = built(programs.widened(dtype))
    assert torch.equal(kernel(x), x.float())  # type: ignore[arg-type]
    for other in (*NARROW.values(), torch.bool):
        if other != NARROW[dtype]:
            with pytest.raises(ArgumentTypeError, match=f"argument 'x' has dtype .*, expected {dtype}"):
                kernel(x.float().to(other))


def test_a_bool_is_a_bool() -> None:
    """F5: as a tensor, and as a 0-d one."""
    mask = torch.arange(32, device=TARGET).reshape(1, 32) % 3 == 0
    kernel = built(programs.widened("bool"))
    assert torch.equal(kernel(mask), mask.float())  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="argument 'x' has dtype u8, expected bool"):
        kernel(mask.to(torch.uint8))
    chosen, x = built(programs.Chosen), torch.rand(1, 32, device=TARGET)
    for keep in (True, torch.tensor(True), torch.tensor(True, device=TARGET)):
        assert torch.equal(chosen(keep, x), x)  # type: ignore[arg-type]
    assert torch.equal(chosen(False, x), -x)  # type: ignore[arg-type]
    for wrong in (1, 0.0, torch.tensor(1, dtype=torch.uint8)):
        with pytest.raises(ArgumentTypeError, match="argument 'keep'"):
            chosen(wrong, x)


def test_a_parameter_goes_in_and_nothing_that_looks_differentiable_comes_out() -> None:
    """F7."""
    weight = torch.nn.Parameter(torch.ones(2, 3, device=TARGET))
    kernel = built(programs.Axpy)
    out = kernel(2.0, weight, weight)
    assert isinstance(out, torch.Tensor) and not out.requires_grad and torch.equal(out, 3 * weight)
    with pytest.raises(ValueError, match="is an output that requires grad, which a compiled entry does not record"):
        kernel(2.0, weight, weight, torch.nn.Parameter(torch.zeros(2, 3, device=TARGET)))


def test_a_kernel_without_inputs_is_told_where_to_run() -> None:
    """F14: by its output; and where there is none, the device is asked for."""
    kernel = built(programs.crowd_host)
    out = torch.zeros(3, 32, device=TARGET)
    assert kernel(out) is out and bool((out == 1).all())
    with pytest.raises(TypeError, match="cannot infer device|'N'"):
        kernel()


def test_the_first_call_of_a_fresh_thread() -> None:
    """F14."""
    kernel = built(programs.shares)
    a = torch.ones(4, 32, device=TARGET)
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(kernel(a, torch.empty_like(a))))
    thread.start()
    thread.join()
    assert torch.equal(results[0], a / 128)  # type: ignore[arg-type]


def test_a_grid_may_be_long_on_any_axis() -> None:
    """S3: CTAs are counted along x, which has room."""
    a = torch.arange(32.0, device=TARGET).expand(70000, 32).contiguous()
    assert torch.equal(built(programs.tall)(a), 2 * a)  # type: ignore[arg-type]


@pytest.mark.skipif(TARGET != "cpu", reason="hides the driver of a GPU machine's kernel, which a CPU machine lacks")
def test_without_a_driver_the_call_says_what_is_missing() -> None:
    """S17: a CUDA library loads and checks its arguments anywhere."""
    code = """
import torch
from tests.compiler import edge_programs
from tilefoundry import LaunchError, jit
kernel = jit(edge_programs.tall, target="cuda")
try:
    kernel(torch.ones(2, 32), torch.ones(2, 32))
except ValueError as error:
    print(error)
"""
    path = os.pathsep.join(p for p in sys.path if p)
    hidden = {"PYTHONPATH": path, "LD_LIBRARY_PATH": "", "TILEFOUNDRY_CUDA": str(find_cuda().root)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **hidden},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "argument 'a' must be a kDLCUDA tensor, got one on cpu" in done.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            (),
            r"axpy: takes 3 argument\(s\) \(alpha, x, y\) and returns outputs, or 4 with .*\(out.*\) given; got 0",
        ),
        ((1.0, None, None), "argument 'x' is a NoneType, expected a torch.Tensor"),
        ((1.0, None, None, None), f"argument 'x' must be a {KIND} tensor of f32, got None"),
        ((1.0, *[torch.ones(2, 2, device=TARGET)] * 5), r"takes 3 argument\(s\).*got 6"),
    ],
)
def test_wrong_counts_and_nothing_at_all_name_the_parameters(args: tuple[object, ...], words: str) -> None:
    """S17."""
    with pytest.raises(ArgumentTypeError, match=words):
        built(programs.Axpy)(*args)
