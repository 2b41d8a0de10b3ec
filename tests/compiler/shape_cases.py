"""What the tests of shape ops share: numbers that every dtype holds, and the one comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import tilefoundry
from tests.compiler.running import compiled

TORCH = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e4m3": torch.float8_e4m3fn,
    "i64": torch.int64,
    "i32": torch.int32,
    "bool": torch.bool,
}


def numbers(*shape: int, dtype: str = "f32", seed: int = 0) -> Tensor:
    """Small integers, which every dtype holds and adds exactly."""
    values = torch.randint(-9, 10, shape, generator=torch.Generator().manual_seed(seed + sum(shape)))
    return values.float().to(TORCH[dtype])


def bits(x: Tensor) -> Tensor:
    """Values that torch moves, whatever the dtype."""
    return x.view(torch.uint8) if x.dtype is torch.float8_e4m3fn else x


def poisoned(x: Tensor) -> Tensor:
    """Memory like `x` in which every byte is set."""
    return torch.full((x.numel() * x.element_size(),), 255, dtype=torch.uint8).view(x.dtype).view(x.shape)


def agree(module: Any, inputs: Sequence[Tensor], expected: Sequence[Tensor]) -> None:
    """Checks the evaluator, and what the kernel writes into poisoned outputs, against exact values."""
    evaluated = tilefoundry.evaluate(module, *inputs)
    outputs = [poisoned(x) for x in expected]
    compiled(module)(*inputs, *outputs)
    values = evaluated if isinstance(evaluated, tuple) else (evaluated,)
    for k, known in enumerate(expected):
        for what, found in (("evaluator", values[k]), ("kernel", outputs[k])):
            assert found.dtype == known.dtype and found.shape == known.shape, f"result {k} of the {what}"
            assert torch.equal(bits(found), bits(known.contiguous())), f"result {k} of the {what}:\n{found}\n{known}"
