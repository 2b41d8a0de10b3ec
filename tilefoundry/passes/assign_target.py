"""The last step: the Module says what it is compiled for, which may be another target than it is placed for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.ir.core.module import Module
from tilefoundry.passes.base import PLANNED, TIR, Pass
from tilefoundry.target import Target


@dataclass(frozen=True)
class AssignTarget(Pass):
    """Gives the Module the target that it is compiled for. Shared memory is planned for the placement before that."""

    name: ClassVar[str] = "assign-target"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, PLANNED})

    def run(self, module: Module, target: Target) -> Module:
        """The Module for `target`."""
        return replace(module, target=target)
