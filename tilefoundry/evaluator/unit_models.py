"""For tests: programs with models that compute unit by unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from tilefoundry.evaluator import evaluate
from tilefoundry.ir.core.module import Module

Model = Callable[..., np.ndarray]


@dataclass
class Models:
    """Programs of one test file, by the name of their model."""

    known: dict[str, tuple[Module, Model, tuple[tuple[int, ...], ...]]] = field(default_factory=dict)

    def __call__(self, model: Model, *shapes: tuple[int, ...]) -> Callable[[Module], Module]:
        """Decorator of a program: its model, and the shapes of its inputs (f32)."""

        def register(program: Module) -> Module:
            self.known[model.__name__] = (program, model, shapes)
            return program

        return register

    def check(self, name: str) -> None:
        """The program gives what its model gives, in f64 and in its own precision."""
        program, model, shapes = self.known[name]
        generator = torch.Generator().manual_seed(0)
        inputs = [torch.randn(shape, generator=generator) for shape in shapes]
        expected = model(*(x.double().numpy() for x in inputs))
        exact, value = evaluate(program, *inputs, precision="f64"), evaluate(program, *inputs)
        assert isinstance(exact, torch.Tensor) and isinstance(value, torch.Tensor)
        assert (exact.dtype, value.dtype) == (torch.float64, torch.float32)
        np.testing.assert_allclose(exact.numpy(), expected, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-5)
