"""Statements of TIR: what a kernel does, in order."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.op import Op


@dataclass(frozen=True, slots=True)
class Stmt:
    """Base of all statements."""


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
    """Runs ``body`` for ``var`` = start, start + step, ... below ``extent``.

    The bounds are i64 scalars that are equal for every instance of a CTA, so barriers may stand in the body.
    """

    var: Var
    start: Expr | int
    extent: Expr | int
    step: Expr | int
    body: Stmt


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """Runs ``then_body`` where ``condition`` (a CTA-uniform comparison) holds."""

    condition: Expr
    then_body: Stmt


@dataclass(frozen=True, slots=True)
class Evaluate(Stmt):
    """Runs an effect op on its arguments."""

    callable: Op
    args: tuple[Expr, ...]
