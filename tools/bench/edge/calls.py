"""Two ways to call one kernel on the same tensors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from tilefoundry import CompilerOptions
from tilefoundry.codegen import LinkableModule, emit_module
from tilefoundry.driver.pipeline import isa_of
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.passes import lower
from tilefoundry.runtime import CompiledModule
from tilefoundry.runtime.library import find_symbol, open_library
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import Target
from tools.bench.edge.bare import bare_module
from tools.bench.edge.program import added

BATCH = 100  # short, so that some run undisturbed; and a GPU's queue holds ten times as many

Call = Callable[..., object]


@dataclass(frozen=True)
class Calls:
    """The bare call, the entry that checks its arguments, and the module around it; and what they are called on."""

    bare: Call
    entry: Call
    module: CompiledModule
    tensors: tuple[torch.Tensor, ...]

    @classmethod
    def build(cls, target: Target, folder: Path) -> Calls:
        """Compiles both libraries into a folder, and checks that both add.

        Raises:
            CompileError: a compiler is missing or failed.
        """
        linkable = emit_module(lower(added(), target), target)
        module = load_linked_module(read_artifact(_library(linkable, folder / "checked")))
        path = _library(bare_module(linkable), folder / "bare")
        bare = find_symbol(open_library(path), module.name, path)
        assert module.linked is not None
        entry = find_symbol(open_library(module.linked.library), module.name, module.linked.library)
        x, y = torch.arange(256.0, device=target.name).view(4, 64), torch.ones(4, 64, device=target.name)
        found = cls(bare, entry, module, (x, y, torch.empty_like(x)))
        for call in (bare, entry, module):
            found.tensors[2].zero_()
            call(*found.tensors)
            assert torch.equal(found.tensors[2], x + 1), "the ways to call differ"
        return found

    def seconds(self, call: Call) -> float:
        """One call's share of a batch."""
        x, y, out = self.tensors
        began = time.perf_counter()
        for _ in range(BATCH):
            call(x, y, out)
        ended = time.perf_counter()
        if x.is_cuda:
            torch.cuda.synchronize()
        return (ended - began) / BATCH


def _library(module: LinkableModule, folder: Path) -> Path:
    folder.mkdir()
    return write_artifact(module, CompilerOptions(), folder, module.entry.name, {isa_of(module.target): ""})
