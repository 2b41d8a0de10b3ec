"""For tests: a small model with two children of one kind, and a twin of it."""

# mypy: ignore-errors
# ruff: noqa: F821
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import torch

from tilefoundry.dsl import ConstTensor, Tensor, tf
from tilefoundry.python import func, module
from tilefoundry.runtime.abi import EntryABI, entry_abi_of
from tilefoundry.runtime.decorator import runtime_func, runtime_module
from tilefoundry.runtime.function import RuntimeFunction


@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(2, 4), "f32"], w: ConstTensor[(4, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
        return tf.matmul(x, w)


@module(entry="mix")
class Model:
    first = Proj
    second = Proj

    @func
    def mix(
        x: Tensor[(2, 4), "f32"], gain: ConstTensor[(4,), "f32"], y: Tensor[(2, 4), "f32"]
    ) -> Tensor[(2, 4), "f32"]:
        return x * gain + y

    @func
    def scale(s: Tensor[(), "f32"], gain: ConstTensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return gain * s

    def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        for _ in range(steps):
            x = self.mix(self.first(x), self.second(x))
        return x

    def init_caches(self, size: int) -> tuple[object, ...]:
        return self, torch.zeros(size)


@runtime_module(Proj)
class TorchProj:
    """Projection with torch."""

    @runtime_func
    def run(self, x, w):
        return x @ w


class Scale(RuntimeFunction):
    """A kernel with a state of its own."""

    def __init__(self, type: EntryABI) -> None:
        super().__init__(type)
        self.calls = 0

    def __call__(self, s, gain):
        self.calls += 1
        return gain * s


@runtime_module(Model)
class TorchModel:
    """Model with torch."""

    first = TorchProj
    second = TorchProj
    scale = Scale(entry_abi_of(Model.lookup("scale")))
    OFFSET = 0.0

    @runtime_func
    def mix(self, x, gain, y):
        return self._fma(x, gain) + y

    def _fma(self, x, gain):
        return x * gain + self.OFFSET


def weights(seed: int = 0) -> dict[str, torch.Tensor]:
    """A checkpoint of `Model`."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {"gain": (4,), "first.w": (4, 4), "second.w": (4, 4)}
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
