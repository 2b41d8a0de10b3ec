"""The one walk over a function that every text form shares: which value stands where.

A value stands before the innermost loop that it does not depend on, so the text follows from the DAG alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import IRMetadata, SourceSpanMetadata
from tilefoundry.ir.core.origin import SpecializationMetadata
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.traverse import FreeVars, free_variables, post_order


class Walk(ABC):
    """Visits the values of a function in the order of its text; a rendering says what each of them looks like."""

    def block(self, roots: Iterable[Expr], bound: frozenset[Var] | None = None, free: FreeVars | None = None) -> None:
        """Prints what `roots` need and can be printed where only `bound` Vars are known (None: all)."""
        roots = tuple(roots)
        known = free if free is not None else free_variables(*roots)
        for expr in post_order(*roots, known=self.is_printed):
            if not self.stands_alone(expr) or (bound is not None and not known[id(expr)] <= bound):
                continue
            if isinstance(expr, GridRegionExpr):
                self.loop(expr, known[id(expr)] if bound is None else bound, known)
            else:
                self.assignment(expr)

    @abstractmethod
    def is_printed(self, expr: Expr) -> bool:
        """Whether a value has been printed, so that all that it needs has been, too."""

    @abstractmethod
    def stands_alone(self, expr: Expr) -> bool:
        """Whether a value has a statement of its own that has not been printed yet."""

    @abstractmethod
    def assignment(self, expr: Expr) -> None:
        """Prints the statement of a value that is no loop."""

    @abstractmethod
    def loop(self, loop: GridRegionExpr, bound: frozenset[Var], free: FreeVars) -> None:
        """Prints a loop; what its body needs from outside has been printed."""


def inside_of(loop: GridRegionExpr) -> tuple[Expr, ...]:
    """The values that one iteration of a loop gives."""
    return (*loop.yield_values, *(() if loop.body is None else (loop.body,)))


def is_dim(expr: Expr) -> bool:
    """Whether an expression is arithmetic on extents, which is printed where it is used."""
    return isinstance(expr, Call) and isinstance(expr.target, DimOp)


def is_inline(expr: Expr) -> bool:
    """Whether an expression never has a statement of its own."""
    return isinstance(expr, (Constant, DimVar, Tuple)) or is_dim(expr)


def notes_of(metadata: Iterable[IRMetadata]) -> list[IRMetadata]:
    """The records that are part of a program's identity, in a fixed order; where it comes from is not."""
    kept = [m for m in metadata if not isinstance(m, (SourceSpanMetadata, SpecializationMetadata))]
    return sorted(kept, key=lambda m: type(m).__name__)
