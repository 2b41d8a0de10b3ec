"""How the next token is chosen from logits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tilefoundry.diagnostics import WrongTypeError, WrongValueError


@dataclass(frozen=True)
class Sampling:
    """Greedy by default; with a temperature, a draw from the likeliest tokens.

    Temperature, then `top_k`, then `top_p` apply, each to what the one before it left, renormalised. Ties are broken
    by the lower token id. The draw is in f64 on the CPU, so that a seed means the same tokens on every device.

    Args:
        temperature: 0 takes the likeliest token; above, logits are divided by it.
        top_k: keep this many of the likeliest tokens.
        top_p: keep the fewest of the likeliest tokens whose probabilities add up to at least this, in (0, 1]
            (nucleus sampling: Holtzman et al., The Curious Case of Neural Text Degeneration, 2020).
        seed: of the draws.

    Raises:
        WrongTypeError: a number is of the wrong kind.
        WrongValueError: a number is out of range.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _number("temperature", self.temperature)
        if not 0 <= self.temperature < math.inf:
            raise WrongValueError(f"temperature: expected a finite number of at least 0, got {self.temperature!r}")
        if self.top_p is not None:
            _number("top_p", self.top_p)
            if not 0 < self.top_p <= 1:
                raise WrongValueError(
                    f"top_p: expected a number above 0, at most 1, got {self.top_p!r}",
                    remedy="leave it out to keep every token",
                )
        if self.top_k is not None:
            _int("top_k", self.top_k, 1, 2**63)
        _int("seed", self.seed, 0, 2**63)


def candidates(logits: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn, likeliest first, and their probabilities.

    Args:
        logits: (vocabulary,), without NaN; the largest is finite.

    Returns:
        ids (n,) i64 and probabilities (n,) f64 that add up to 1, on the CPU.
    """
    scores = logits.detach().to("cpu", torch.float64)
    # A stable sort, so that equal logits stay in the order of their ids.
    ordered, ids = torch.sort(scores, descending=True, stable=True)
    if sampling.temperature == 0:
        return ids[:1], torch.ones(1, dtype=torch.float64)
    # The largest is subtracted first: dividing by a small temperature must not overflow to inf - inf.
    kept = (ordered - ordered[0]) / sampling.temperature
    if sampling.top_k is not None:
        kept = kept[: sampling.top_k]
    probabilities = torch.softmax(kept, 0)
    if sampling.top_p is not None:
        before = probabilities.cumsum(0) - probabilities  # what the likelier tokens hold together
        probabilities = probabilities[: max(1, int((before < sampling.top_p).sum()))]
        probabilities = probabilities / probabilities.sum()
    return ids[: len(probabilities)], probabilities


def draw(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """One token: the inverse of the cumulative distribution at a uniform number of `generator`."""
    ids, probabilities = candidates(logits, sampling)
    if len(ids) == 1:
        return int(ids[0])
    cumulative = probabilities.cumsum(0)
    at = torch.rand((), dtype=torch.float64, generator=generator) * cumulative[-1]
    return int(ids[int(torch.searchsorted(cumulative, at, right=True).clamp(max=len(ids) - 1))])


def _number(name: str, value: object) -> None:
    if type(value) not in (int, float):
        raise WrongTypeError(f"{name}: expected a number, got {value!r}")


def _int(name: str, value: object, least: int, end: int) -> None:
    if type(value) is not int:
        raise WrongTypeError(f"{name}: expected an int, got {value!r}")
    if not least <= value < end:
        raise WrongValueError(f"{name}: expected at least {least}, below {end}, got {value}")
