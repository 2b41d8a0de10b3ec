"""The evaluator behind `tilefoundry.ir.core.execution`: what runs a Module's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from tilefoundry.evaluator.dtypes import TORCH
from tilefoundry.evaluator.evaluate import run_function
from tilefoundry.evaluator.reach import reached_children
from tilefoundry.ir.core.execution import AS_DECLARED, RunOptions, TensorFacts
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module

_NAMES = {value: key.name for key, value in TORCH.items()}


class TorchExecutor:
    """Runs functions on torch tensors."""

    def run(
        self,
        module: Module,
        function: Function,
        args: tuple[object, ...],
        device: str | None = None,
        children: Mapping[str, Callable[..., object]] | None = None,
        options: RunOptions = AS_DECLARED,
    ) -> object:
        """The value of `function` on one argument for each declared parameter."""
        return run_function(function, args, device, children, options)

    def reached(self, function: Function, args: tuple[object, ...] | None) -> tuple[str, ...]:
        """The names of the children whose entries a call of `function` reaches."""
        return reached_children(function, args)

    def facts(self, value: object) -> TensorFacts | None:
        """Shape, dtype and device of a torch tensor; None when `value` is none."""
        if not isinstance(value, torch.Tensor):
            return None
        dtype = _NAMES.get(value.dtype, str(value.dtype).removeprefix("torch."))
        return TensorFacts(tuple(value.shape), dtype, str(value.device))
