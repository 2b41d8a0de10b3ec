"""A model's errors against plain torch in f64, and its time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from examples.models.suite import Model
from examples.models.weights import TORCH_DTYPES, random_weights
from tilefoundry.runtime import DictResource

# The program in f64 differs from plain torch by the order of sums alone: max |ours - torch|, of numbers of size 1.
F64_BOUND = 1e-10
# In its declared dtype each op rounds once, by up to 2^-24 (f32) or 2^-9 (bf16) of an element, and f32 sums of some
# thousand terms by a few of these: |ours - torch| / |torch|. Measured: up to 8e-7 and 9e-3.
# (A router whose k-th and next expert are equal in f32 may choose the other one: no bound holds for such a token.)
RELATIVE_BOUNDS = {"f32": 2e-6, "bf16": 2e-2}


@dataclass(frozen=True)
class Errors:
    """How one model compares.

    Attributes:
        parameters: how many numbers its weights hold.
        f64: max |ours - torch|, both in f64, over all dtypes of weights and inputs.
        relative: |ours - torch| / |torch|, ours in each declared dtype, torch in f64 on the same weights and inputs.
        seconds: of a call in f32.
    """

    parameters: int
    f64: float
    relative: dict[str, float]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether all bounds hold."""
        return self.f64 <= F64_BOUND and all(self.relative[d] <= bound for d, bound in RELATIVE_BOUNDS.items())


def compare(model: Model, batch: int, length: int, seed: int) -> Errors:
    """A model against plain torch, on random weights and inputs."""
    relative, f64, seconds, parameters = {}, 0.0, 0.0, 0
    for dtype in RELATIVE_BOUNDS:
        generator = torch.Generator().manual_seed(seed)
        module = model.build(dtype)
        weights = random_weights(module, generator)
        x = tokens(model, batch, length, dtype, generator)
        loaded = module.load(DictResource(weights))
        exact = model.exact(weights, x)
        f64 = max(f64, float((model.run(loaded, x, "f64") - exact).abs().max()))
        began = time.perf_counter()
        ours = model.run(loaded, x)
        if dtype == "f32":
            seconds = time.perf_counter() - began
        relative[dtype] = float((ours.double() - exact).norm() / exact.norm())
        parameters = sum(value.numel() for value in weights.values())
    return Errors(parameters, f64, relative, seconds)


def tokens(model: Model, batch: int, length: int, dtype: str, generator: torch.Generator) -> Tensor:
    """Normal tokens (batch, length, hidden)."""
    return torch.randn(batch, length, model.hidden, generator=generator).to(TORCH_DTYPES[dtype])
