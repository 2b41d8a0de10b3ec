"""What every TIR op states about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.op import Op


@dataclass(frozen=True, slots=True)
class ValueOp(Op):
    """An op whose call is bound by a ``LetStmt``."""


@dataclass(frozen=True, slots=True)
class EffectOp(Op):
    """An op that is evaluated for what it writes.

    ``reads`` and ``writes`` are positions of tensor arguments. ``collective`` marks an op in which the instances of a
    CTA meet (a barrier, a shuffle, a cooperative load), ``barrier`` one that also orders their shared memory.
    """

    reads: ClassVar[tuple[int, ...]] = ()
    writes: ClassVar[tuple[int, ...]] = ()
    collective: ClassVar[bool] = False
    barrier: ClassVar[bool] = False
