"""Where a program is cut into kernels.

A value that is used where it is computed stays in registers; one that several kernels need, or that a kernel needs
much more of than one tile, is written to global memory by a kernel of its own: a *root*. Which values are roots is
decided from the results backwards, so that the users of a value are known when it is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import TypeGuard

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import Reduce, Reshape, SplitParts, TupleGetItem
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.registry import can_fuse
from tilefoundry.passes.place.kinds import ELEMENTWISE, HEAVY, NORMS, VIEWS, producer, tensor, whole_axes

_CHEAP = 4  # ops that may rather be computed twice than be written and read


@dataclass(slots=True)
class Group:
    """A kernel to be: the values that it writes, and what is fused into it.

    Attributes:
        roots: one value, or several of one shape that one op computes.
        heavy: a product or the like is computed in it.
        alias: the value is no kernel's, but what another one has written, under other extents.
        rows: the axes, counted from the end, that a tile holds whole because something in it is reduced along them.
    """

    roots: list[Call]
    heavy: bool = False
    alias: bool = False
    rows: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Cutter:
    results: Set[int]  # by value
    uses: dict[int, list[Call]] = field(default_factory=lambda: defaultdict(list))
    groups: dict[int, list[Group]] = field(default_factory=dict)  # by value: the kernels that compute it
    found: list[Group] = field(default_factory=list)  # users first
    views_only: set[int] = field(default_factory=set)  # values that must be read as they lie
    written: set[int] = field(default_factory=set)  # values that must lie in memory

    def place(self, value: Call) -> None:
        """Fuses a value into the kernels of its users, or makes it a root."""
        users = self.uses[id(value)]
        if isinstance(value.target, Reshape) and not can_fuse(value, 0):
            self._regroup(value)
            return
        kept = id(value) in self.results or id(value) in self.written
        joined = None if kept else self._joined(value, users)
        if joined is None:
            joined = [self._rooted(value)]
        elif any(id(user) in self.views_only or not _takes_tiles(user, value) for user in users):
            self.views_only.add(id(value))
        for group in joined:
            group.heavy |= isinstance(value.target, HEAVY)
            group.rows |= whole_axes(value)
        self.groups[id(value)] = joined

    def _regroup(self, value: Call) -> None:
        """A value whose axes are no windows of what it is made of: that goes to memory, and is read there.

        What a kernel has written lies without gaps, and is the same memory; arguments and results may not.
        """
        (operand,) = value.args
        base: Expr | int = operand
        while isinstance(base, Call) and isinstance(base.target, VIEWS):
            base = base.args[0]
        computed = isinstance(base, Call)
        if computed:
            self.written.add(id(operand))
        group = Group([value], alias=computed and not {id(value), id(operand)} & self.results)
        self.views_only.add(id(value))
        self.groups[id(value)] = [group]
        self.found.append(group)

    def _rooted(self, value: Call) -> Group:
        """The kernel that writes the value: that of another value of the same op and shape, or one of its own."""
        if is_part(value):
            for group in self.found:
                (first, *_) = group.roots
                if is_part(first) and first.args == value.args and tensor(first).shape == tensor(value).shape:
                    group.roots.insert(0, value)
                    return group
        self.found.append(Group([value]))
        return self.found[-1]

    def _joined(self, value: Call, users: Sequence[Call]) -> list[Group] | None:
        """The groups that the value can be part of; None where it must be a root."""
        groups: list[Group] = []
        for user in users:
            if not self._fits(value, user):
                return None
            groups += [g for g in self.groups.get(id(user), ()) if not any(g is h for h in groups)]
        if isinstance(value.type, TupleType):
            return groups  # of whose parts each is a root, or a view
        if len(groups) > 1 and not isinstance(value.target, VIEWS) and _ops_below(value) > _CHEAP:
            return None
        return groups if all(self._admits(group, value) for group in groups) else None

    def _fits(self, value: Call, user: Call) -> bool:
        """Whether the user computes with a tile of the value, in registers."""
        if isinstance(user.target, TupleGetItem):
            return True
        if is_part(value):
            return False
        if id(user) in self.views_only or not isinstance(user.target, _COMPUTING):
            return isinstance(value.target, VIEWS)
        if isinstance(value.target, VIEWS):
            return True  # of what it is a view is looked at in its turn
        if not _takes_tiles(user, value):
            return False
        if isinstance(user.target, VIEWS):
            return isinstance(value.target, ELEMENTWISE)
        if isinstance(value.target, HEAVY):
            return isinstance(user.target, ELEMENTWISE) and tensor(value).shape == tensor(user).shape
        if isinstance(value.target, Reduce):
            return isinstance(user.target, ELEMENTWISE) and value.target.keepdim
        return isinstance(value.target, ELEMENTWISE + NORMS)

    def _admits(self, group: Group, value: Call) -> bool:
        rows = whole_axes(value)
        if isinstance(value.target, HEAVY):
            return not group.heavy and not group.rows
        if not rows:
            return True
        return not group.heavy and group.rows in (frozenset(), rows)


def _takes_tiles(user: Call, value: Call) -> bool:
    """Whether a tile of the user is computed from tiles of the value, where that lies in no memory."""
    return isinstance(user.target, _COMPUTING) and all(
        can_fuse(user, k) for k, arg in enumerate(user.args) if arg is value
    )


_COMPUTING = (*ELEMENTWISE, *NORMS, Reduce, *VIEWS)


def cut(results: Sequence[Expr]) -> list[Group]:
    """The kernels that compute the results, in the order in which they run."""
    ids = {id(result) for result in results}
    order = [e for e in post_order(*results) if _is_value(e) or (isinstance(e, Call) and id(e) in ids)]
    read = {id(arg) for expr in post_order(*results) if _is_number(expr) for arg in expr.args if _is_value(arg)}
    cutter = _Cutter(ids, written=read)
    for expr in order:
        assert isinstance(expr, Call)
        for arg in {id(a): a for a in expr.args}.values():
            if isinstance(arg, Expr):
                cutter.uses[id(arg)].append(expr)
    for expr in reversed(order):
        assert isinstance(expr, Call)
        cutter.place(expr)
    return cutter.found[::-1]


def is_part(value: Call) -> bool:
    """Whether a value is one of several that an op computes, and no view."""
    op = producer(value)
    return isinstance(value.target, TupleGetItem) and op is not None and not isinstance(op.target, SplitParts)


def _is_number(expr: Expr) -> TypeGuard[Call]:
    """Whether an expression is a number, which each kernel reads for itself: what it is read from lies in memory."""
    return isinstance(expr, Call) and isinstance(expr.type, TensorType) and not expr.type.rank


def _is_value(expr: Expr | int) -> bool:
    """Whether an expression is a tensor in global memory, or several, that an op computes."""
    if not isinstance(expr, Call) or not isinstance(expr.target, Op):
        return False
    if not isinstance(expr.type, TensorType):
        return True
    return expr.type.rank > 0 and expr.type.storage is StorageKind.GMEM


def _ops_below(value: Expr) -> int:
    return sum(1 for part in post_order(value) if isinstance(part, Call) and _is_value(part))
