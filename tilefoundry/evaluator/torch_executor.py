"""The evaluator behind `tilefoundry.ir.core.execution`: what runs a Module's functions."""

from __future__ import annotations

from tilefoundry.evaluator.evaluate import evaluate
from tilefoundry.ir.core.execution import Executor
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module


class TorchExecutor:
    """Runs functions on torch tensors, in declared precision."""

    def run(self, module: Module, function: Function, args: tuple[object, ...]) -> object:
        """The value of `function` on one argument for each declared parameter."""
        return evaluate(function, *args)


def executor() -> Executor:
    """The executor that fills the IR's port."""
    return TorchExecutor()
