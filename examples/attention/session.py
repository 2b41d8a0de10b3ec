"""One run of the example: compile, compute, check against the evaluator and torch, time, draw."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rich.console import Console
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

import tilefoundry
from examples.attention.picture import attention_weights, draw
from examples.attention.program import attention_module
from examples.attention.reference import attention_f64, attention_torch, expectations
from examples.attention.timing import median_seconds
from tilefoundry.ir.core.module import Module

# The evaluator runs the program step by step in torch; this many 64 × 64 steps take some ten seconds.
_EVALUATOR_STEPS = 20_000
_TILE = 64


@dataclass(frozen=True)
class Problem:
    """q, k, v of shape (B, S, D), where they come from, and the tokens if they are a sentence's."""

    title: str
    q: Tensor
    k: Tensor
    v: Tensor
    dtype: str
    causal: bool
    tokens: tuple[str, ...] | None = None


def run(problem: Problem, target: Literal["cpu", "cuda"], console: Console) -> bool:
    """Runs the example and prints what it does. Returns whether every check passed."""
    q, k = problem.q, problem.k
    console.print(f"input    {problem.title}", markup=False, soft_wrap=True)
    console.print(f"shapes   q, k, v, out: {tuple(q.shape)} {problem.dtype}{', causal' if problem.causal else ''}")

    module = attention_module(q.shape[-1], problem.dtype, problem.causal)
    start = time.perf_counter()
    kernel = tilefoundry.jit(module, target=target)
    seconds = time.perf_counter() - start
    origin = "compiled" if kernel.build_info is None else kernel.build_info.origin
    console.print(f"target   {target} ({q.device})")
    console.print(f"kernel   {origin} in {seconds:.3f} s")

    passed = _check(problem, kernel, module, console)
    _time(problem, kernel, console)
    if problem.tokens is not None:
        draw(console, attention_weights(partial(_attend, kernel), q, k), problem.tokens)
    return passed


def _check(problem: Problem, kernel: Callable[..., object], module: Module, console: Console) -> bool:
    inputs = (problem.q, problem.k, problem.v)
    expect = {"output": expectations(problem.dtype)}
    torch_report = tilefoundry.check(
        kernel, lambda q, k, v: attention_f64(q, k, v, problem.causal), inputs, expect=expect
    )
    console.print("check    against torch in f64, rounded once", markup=False, soft_wrap=True)
    console.print(str(torch_report), markup=False, soft_wrap=True)

    tiles = -(-problem.q.shape[1] // _TILE)
    heads = min(problem.q.shape[0], _EVALUATOR_STEPS // (tiles * tiles))
    if heads == 0:
        console.print(f"         against the evaluator: left out, one head takes more than {_EVALUATOR_STEPS} steps")
        return torch_report.passed
    report = tilefoundry.check(
        kernel,
        lambda *tensors: tilefoundry.evaluate(module, *tensors),
        tuple(x[:heads] for x in inputs),
        expect=expect,
    )
    console.print(
        f"check    against the evaluator, {heads} of {problem.q.shape[0]} heads", markup=False, soft_wrap=True
    )
    console.print(str(report), markup=False, soft_wrap=True)
    return torch_report.passed and report.passed


def _attend(kernel: Callable[..., object], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = kernel(q, k, v)
    assert isinstance(out, Tensor)
    return out


def _time(problem: Problem, kernel: Callable[..., object], console: Console) -> None:
    q, k, v = problem.q, problem.k, problem.v
    ours = median_seconds(lambda: kernel(q, k, v), q.device)
    console.print(f"time     ours {_micro(ours)}")
    for name, backends in _peers(problem):
        with sdpa_kernel(backends):
            theirs = median_seconds(lambda: attention_torch(q, k, v, problem.causal), q.device)
        console.print(f"         {name} {_micro(theirs)}, ours/{name} {ours / theirs:.2f}")


def _peers(problem: Problem) -> list[tuple[str, list[SDPBackend]]]:
    """What torch has for this input: its own choice, and on a GPU the fused kernels by name."""
    anything = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    peers = [("torch", anything)]
    if problem.q.is_cuda and problem.dtype != "f32":
        peers += [("torch, cuDNN", [SDPBackend.CUDNN_ATTENTION]), ("torch, flash", [SDPBackend.FLASH_ATTENTION])]
    return peers


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs"
