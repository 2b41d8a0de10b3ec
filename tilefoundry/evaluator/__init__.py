"""Reference semantics: what a program means, computed by torch on logical shapes."""

from tilefoundry.evaluator.evaluate import PRECISIONS, evaluate
from tilefoundry.evaluator.torch_executor import TorchExecutor

__all__ = ["PRECISIONS", "TorchExecutor", "evaluate"]
