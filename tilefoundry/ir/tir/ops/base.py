"""What every TIR op states about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, TypeContext
from tilefoundry.ir.core.type import Type, UnitType


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

    def type_rule(self, ctx: TypeContext, *args: Expr) -> Type:
        """Checks the operands (`check`); an effect has no value."""
        self.check(ctx, *args)
        return UnitType()

    def check(self, ctx: TypeContext, *args: Expr) -> None:
        """Refuses operands that do not fit, by `ctx.error`. An op without operands has nothing to check."""
