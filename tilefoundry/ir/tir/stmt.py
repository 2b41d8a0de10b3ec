"""Statements of TIR: what a kernel does, in order.

Every statement may carry metadata (where its author wrote it), which takes no part in equality.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tilefoundry.diagnostics import SourceSpan
from tilefoundry.ir.core.expr import Expr, Unchanging, Var
from tilefoundry.ir.core.metadata import Metadata, span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.tir.symbols import SymbolRef


@dataclass(frozen=True, slots=True)
class Stmt(Unchanging):
    """Base of all statements."""

    metadata: Metadata = field(default=(), repr=False, compare=False, kw_only=True)

    @property
    def span(self) -> SourceSpan | None:
        """Where the author wrote it, when known."""
        return span_of(self.metadata)


@dataclass(frozen=True, slots=True)
class Sequential(Stmt):
    """Statements one after another."""

    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class LetStmt(Stmt):
    """Binds ``var`` to ``value`` for the statements of ``body``."""

    var: Var
    value: Expr
    body: Stmt


@dataclass(frozen=True, slots=True)
class For(Stmt):
    """Runs ``body`` for ``var`` = start, start + step, ... below ``extent``; the step is positive.

    The bounds are integer scalars of one type, which is the variable's. A body in which instances meet (a barrier, a
    cooperative load) needs bounds that are equal for all of them.
    """

    var: Var
    start: Expr | int
    extent: Expr | int
    step: Expr | int
    body: Stmt


@dataclass(frozen=True, slots=True)
class While(Stmt):
    """Runs ``body`` as long as ``condition``, a bool scalar that is computed anew each time, holds."""

    condition: Expr
    body: Stmt


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """Runs ``then_body`` where ``condition``, a bool scalar, holds, else ``else_body``."""

    condition: Expr
    then_body: Stmt
    else_body: Stmt | None = None


@dataclass(frozen=True, slots=True)
class MeshScope(Stmt):
    """Runs ``body`` with the coordinates of ``mesh`` under the name ``binding``.

    A whole mesh names what runs anyway. A slice of an outer scope's mesh runs the body on its own units only.
    """

    mesh: Mesh
    binding: str | None
    body: Stmt


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    """Ends the function for the instance that reaches it."""


@dataclass(frozen=True, slots=True)
class Evaluate(Stmt):
    """Runs an effect op, or another PrimFunction by its name, on its arguments."""

    callable: Op | SymbolRef
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Abort(Stmt):
    """Stops the launch with an error that says ``message``."""

    message: str


@dataclass(frozen=True, slots=True)
class DispatchCall(Stmt):
    """Calls the variant of ``callee_name`` that serves a dynamic extent.

    Attributes:
        subjects: what is looked at: one ShapeOf.
        case_patterns: the extents that each case serves.
        case_calls: the call of each case.
        fallback: what happens when no pattern matches: an Abort.
    """

    callee_name: str
    subjects: tuple[Expr, ...]
    case_patterns: tuple[DimVarRangePat, ...]
    case_calls: tuple[Evaluate, ...]
    fallback: Stmt


def inner_blocks(stmt: object) -> tuple[Stmt, ...]:
    """The blocks that stand inside a statement, in program order; a `LetStmt`'s own body is not one of them."""
    match stmt:
        case For(body=body) | While(body=body) | MeshScope(body=body):
            return (body,)
        case If(then_body=then_body, else_body=else_body):
            return (then_body,) if else_body is None else (then_body, else_body)
    return ()


def map_blocks(stmt: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """The statement with `change` applied to each of its `inner_blocks`."""
    match stmt:
        case For() | While() | MeshScope():
            return replace(stmt, body=change(stmt.body))
        case If(_, then_body, else_body):
            return replace(
                stmt, then_body=change(then_body), else_body=None if else_body is None else change(else_body)
            )
    return stmt
