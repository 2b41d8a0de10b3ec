"""What fills the IR's port: the evaluator, and the writer of prepared checkpoints."""

from __future__ import annotations

import os

import torch

from tilefoundry.evaluator.torch_executor import TorchExecutor
from tilefoundry.ir.core.execution import Executor
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.weights import WeightSource
from tilefoundry.runtime.prepare import prepare


class RuntimeExecutor(TorchExecutor):
    """Runs functions with the evaluator, and prepares checkpoints."""

    def prepare(
        self,
        module: Module,
        raw: WeightSource,
        out_dir: str | os.PathLike[str],
        *,
        device: object,
        overwrite: bool,
        max_shard_bytes: int | None,
    ) -> None:
        """Writes the declared weights of a tree as a safetensors checkpoint; see `Module.prepare`."""
        where = device if isinstance(device, torch.device) else torch.device(str(device))
        prepare(module, raw, out_dir, where, overwrite, max_shard_bytes)


def executor() -> Executor:
    """The executor that fills the IR's port."""
    return RuntimeExecutor()
