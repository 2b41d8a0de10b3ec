"""Random weights for any Module, of the size that trained ones have."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tilefoundry.ir.core.module import Module
from tilefoundry.ir.types import TensorType

TORCH_DTYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}


def random_weights(module: Module, generator: torch.Generator, path: str = "") -> dict[str, Tensor]:
    """A value for each declared weight, by dotted name.

    Matrices (..., K, N) keep the scale of what they are applied to; the gains of norms lie around 1, biases around 0.
    """
    weights = {}
    for name, declared in module.weights.items():
        assert isinstance(declared, TensorType)
        shape = [extent for extent in declared.shape if isinstance(extent, int)]
        assert len(shape) == declared.rank, f"weight '{path}{name}' has a symbolic extent"
        value = torch.randn(shape, generator=generator)
        if len(shape) > 1:
            value /= math.sqrt(shape[-2])
        else:
            value = value * 0.1 + (1.0 if name.endswith("gain") else 0.0)
        weights[path + name] = value.to(TORCH_DTYPES[declared.dtype.name])
    for child in module.modules:
        weights |= random_weights(child, generator, f"{path}{child.name}.")
    return weights
