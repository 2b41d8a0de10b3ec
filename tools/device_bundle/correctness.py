"""Attention libraries against f64: odd lengths, poisoned outputs, views of every kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from examples.attention.reference import TORCH_DTYPES, attention_f64, expectations
from tilefoundry import check
from tools.device_bundle.kernels import AttentionLibrary

HEADS = 3
LENGTHS = (1, 7, 64, 65, 129, 333, 1000)

View = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Verdict:
    """One library over all its cases: the largest rel_l2 and, for each case that failed, what was wrong."""

    library: str
    cases: int
    worst: float
    bound: float
    failures: tuple[str, ...]


def _transposed(x: Tensor) -> Tensor:
    """(B, S, D) over memory that is (S, B, D), as a projection without a copy leaves it."""
    return x.transpose(0, 1).contiguous().transpose(0, 1)


def _strided(x: Tensor) -> Tensor:
    """Every second element of rows twice as long: no vector access is possible."""
    wide = torch.full((*x.shape[:-1], 2 * x.shape[-1]), math.nan, dtype=x.dtype, device=x.device)
    wide[..., ::2] = x
    return wide[..., ::2]


def _misaligned(x: Tensor) -> Tensor:
    """Contiguous, but one element off the allocation's alignment."""
    memory = torch.full((x.numel() + 1,), math.nan, dtype=x.dtype, device=x.device)
    memory[1:] = x.reshape(-1)
    return memory[1:].view(x.shape)


VIEWS: dict[str, View] = {
    "contiguous": torch.Tensor.contiguous,
    "transposed": _transposed,
    "strided": _strided,
    "misaligned": _misaligned,
}


def judge(library: AttentionLibrary, device: torch.device, lengths: tuple[int, ...] = LENGTHS) -> Verdict:
    """Runs one library over lengths and views. The f64 reference is rounded once to the library's dtype."""
    cases, worst, failures = 0, 0.0, []
    bounds = expectations(library.variant.dtype)
    for length in lengths:
        q, k, v = _inputs(library, length, device)
        for name, view in VIEWS.items():
            cases += 1
            for fault, measured in _faults(library, q, k, v, view):
                worst = worst if math.isnan(measured) else max(worst, measured)
                if fault:
                    failures.append(f"S={length} {name}: {fault}")
    return Verdict(library.name, cases, worst, getattr(bounds[0], "max"), tuple(failures))  # noqa: B009


def _inputs(library: AttentionLibrary, length: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(length)
    shape = (HEADS, length, library.variant.head_dim)
    q, k, v = (
        torch.randn(shape, generator=generator).to(device, TORCH_DTYPES[library.variant.dtype]) for _ in range(3)
    )
    return q, k, v


def _faults(library: AttentionLibrary, q: Tensor, k: Tensor, v: Tensor, view: View) -> Iterator[tuple[str, float]]:
    """What is wrong with one call ("" for nothing) and the rel_l2 that it had.

    The output is poisoned, and lies inside a larger poisoned buffer that must stay as it is.
    """
    heads, length, dim = q.shape
    memory = torch.full((heads, length + 2, dim), math.nan, dtype=q.dtype, device=q.device)
    guard = memory.clone()

    def candidate(*inputs: Tensor) -> object:
        return library.kernel(*(view(x) for x in inputs), memory[:, 1:-1])

    report = check(
        candidate,
        lambda q, k, v: attention_f64(q, k, v, library.variant.causal),
        (q, k, v),
        expect={"output": expectations(library.variant.dtype)},
    )
    measured = report.outputs[0].results[0].values["rel_l2"]
    yield ("" if report.passed else str(report)), measured
    for row in (0, -1):
        if not torch.equal(memory[:, row].view(torch.uint8), guard[:, row].view(torch.uint8)):
            yield "wrote outside its output", measured
