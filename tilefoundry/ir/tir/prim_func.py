"""PrimFunction: one kernel, with explicit output parameters."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.tir.stmt import Stmt


@dataclass(frozen=True, slots=True)
class PrimFunction:
    """A kernel: ``params`` are all global tensors, the last ``output_count`` of them are written."""

    name: str
    params: tuple[Var, ...]
    body: Stmt
    output_count: int = 1

    @property
    def inputs(self) -> tuple[Var, ...]:
        """The parameters that are read."""
        return self.params[: len(self.params) - self.output_count]

    @property
    def outputs(self) -> tuple[Var, ...]:
        """The parameters that are written."""
        return self.params[len(self.params) - self.output_count :]
