"""A block as a flat list: what passes read and rewrite.

A ``LetStmt`` nests the rest of its block, which is right for scoping and awkward for passes. ``unfold`` gives the
bindings and statements of a block in order; ``fold`` nests them again; ``unfold(fold(x)) == x``.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.metadata import Metadata
from tilefoundry.ir.tir.stmt import DispatchCall, Evaluate, For, If, LetStmt, Sequential, Stmt, While, inner_blocks


@dataclass(frozen=True, slots=True)
class Binding:
    """One ``LetStmt`` without its body."""

    var: Var
    value: Expr
    metadata: Metadata = field(default=(), repr=False, compare=False, kw_only=True)


Item = Binding | Stmt


def unfold(stmt: Stmt) -> list[Item]:
    """The bindings and statements of a block, in program order."""
    items: list[Item] = []
    todo: list[Stmt] = [stmt]
    while todo:
        match todo.pop():
            case Sequential(stmts):
                todo.extend(reversed(stmts))
            case LetStmt(var, value, body, metadata=metadata):
                items.append(Binding(var, value, metadata=metadata))
                todo.append(body)
            case other:
                items.append(other)
    return items


def items_within(items: Sequence[Item]) -> Iterator[Item]:
    """All bindings and statements, those of inner blocks included, in program order."""
    for item in items:
        yield item
        for block in inner_blocks(item):
            yield from items_within(unfold(block))


def expressions_of(item: Item) -> tuple[Expr, ...]:
    """The expressions of one binding or statement, without those of its inner blocks."""
    match item:
        case Binding(_, value):
            return (value,)
        case Evaluate(args=args):
            return tuple(arg for arg in args if isinstance(arg, Expr))
        case For():
            return tuple(bound for bound in (item.start, item.extent, item.step) if isinstance(bound, Expr))
        case While(condition) | If(condition):
            return (condition,)
        case DispatchCall(subjects=subjects, case_calls=calls):
            return (*subjects, *(arg for call in calls for arg in expressions_of(call)))
    return ()


def fold(items: Sequence[Item]) -> Stmt:
    """The block that ``items`` describe."""
    body: Stmt = Sequential(())
    run: list[Stmt] = []  # statements after the last binding seen, latest first
    for item in reversed(items):
        if isinstance(item, Binding):
            body = LetStmt(item.var, item.value, _block(run, body), metadata=item.metadata)
            run = []
        else:
            run.append(item)
    return _block(run, body)


def _block(reversed_run: list[Stmt], rest: Stmt) -> Stmt:
    stmts = tuple(reversed(reversed_run))
    if rest == Sequential(()):
        return stmts[0] if len(stmts) == 1 else Sequential(stmts)
    return Sequential((*stmts, rest)) if stmts else rest


def _reduced(stmt: LetStmt) -> tuple[Any, tuple[Any, ...]]:
    """How a binding is pickled: as it stands, it is as deep as its block is long."""
    return fold, (unfold(stmt),)


copyreg.pickle(LetStmt, _reduced)
