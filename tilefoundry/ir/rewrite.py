"""Rebuilding a program under other values for its Vars and DimVars.

The walk is over distinct nodes, with an explicit stack: depth and sharing of the DAG cost nothing extra, and what does
not change is kept as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import substitute_dim
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr

Node = Expr | int


class Rewriter:
    """Replaces Vars by values, and DimVars by extents, inside expressions.

    Args:
        values: replacements of Vars.
        extents: replacements of DimVars, also inside op attributes, types and layouts.
        parts: replacements of other expressions, found by identity.
    """

    def __init__(
        self,
        values: Mapping[Var, Node],
        extents: Mapping[Expr, Node] | None = None,
        parts: Sequence[tuple[Expr, Node]] = (),
    ) -> None:
        self._extents = dict(extents or {})
        self._done: dict[int, Node] = {id(var): value for var, value in values.items()}
        self._done.update((id(var), value) for var, value in self._extents.items())
        self._done.update((id(part), value) for part, value in parts)
        self._kept: list[object] = [values, parts]  # keeps the ids above valid

    def __call__(self, expr: Node) -> Node:
        """The rewritten expression."""
        stack = [expr]
        while stack:
            node = stack[-1]
            if isinstance(node, int) or id(node) in self._done:
                stack.pop()
                continue
            missing = [c for c in operands_of(node) if not isinstance(c, int) and id(c) not in self._done]
            if missing:
                stack.extend(missing)
                continue
            self._done[id(node)] = self._rebuild(node)
            self._kept.append(node)
            stack.pop()
        return self._get(expr)

    def expr(self, expr: Expr) -> Expr:
        """The rewritten expression, where that cannot be a plain int."""
        result = self(expr)
        assert isinstance(result, Expr), result
        return result

    def _rewritten(self, nodes: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(self.expr(node) for node in nodes)

    def _get(self, node: Node) -> Node:
        return node if isinstance(node, int) else self._done[id(node)]

    def _all(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(self._get(node) for node in nodes)

    def _rebuild(self, node: Expr) -> Node:
        if isinstance(node, Call):
            if isinstance(node.target, DimOp):
                changed = any(a is not b for a, b in zip(self._all(node.args), node.args, strict=True))
                return self._dim(node) if changed else node
            args = self._all(node.args)
            target = (
                substitute(node.target, self._extents) if self._extents and isinstance(node.target, Op) else node.target
            )
            if target == node.target and all(a is b for a, b in zip(args, node.args, strict=True)):
                return node
            keep = not self._extents and all(_types_alike(a, b) for a, b in zip(args, node.args, strict=True))
            return Call(target, args, node.type if keep else None, metadata=node.metadata)  # type: ignore[arg-type]
        if isinstance(node, Tuple):
            elements = self._all(node.elements)
            same = all(a is b for a, b in zip(elements, node.elements, strict=True))
            return node if same else Tuple(elements, node.metadata)
        if isinstance(node, GridRegionExpr):
            return self._region(node)
        return node  # a Constant, or a Var or DimVar that stays

    def _dim(self, node: Call) -> Node:
        values = {atom: self._get(atom) for atom in _atoms(node)}
        return substitute_dim(node, values)

    def _region(self, region: GridRegionExpr) -> Node:
        inits = self._rewritten(region.init_args)
        args = tuple(
            var if init.type == var.type else dataclasses.replace(var, type=init.type)
            for var, init in zip(region.carried_args, inits, strict=True)
        )
        self._done[id(region.induction_var)] = region.induction_var
        self._done.update((id(old), new) for old, new in zip(region.carried_args, args, strict=True))
        yields = self._rewritten(region.yield_values)
        body = None if region.body is None else self.expr(region.body)
        extent, step, start = (self._get(b) for b in (region.extent, region.step, region.start))
        old = (*region.init_args, *region.yield_values, region.body, region.extent, region.step, region.start)
        if all(a is b for a, b in zip((*inits, *yields, body, extent, step, start), old, strict=True)):
            return region
        spread = None if region.spread is None else substitute(region.spread, self._extents)
        return GridRegionExpr(
            region.induction_var, args, inits, body, yields, extent, step, start, spread, metadata=region.metadata
        )


class _Instance(Rewriter):
    """Gives every loop variables of its own."""

    def _region(self, region: GridRegionExpr) -> Node:
        variable = dataclasses.replace(region.induction_var)
        # types and attributes inside of the loop may mention the variable
        self._extents[region.induction_var] = self._done[id(region.induction_var)] = variable
        inits = self._rewritten(region.init_args)
        args = tuple(
            dataclasses.replace(var, type=init.type) for var, init in zip(region.carried_args, inits, strict=True)
        )
        self._done.update((id(old), new) for old, new in zip(region.carried_args, args, strict=True))
        yields = self._rewritten(region.yield_values)
        body = None if region.body is None else self.expr(region.body)
        del self._extents[region.induction_var]
        extent, step, start = (self._get(b) for b in (region.extent, region.step, region.start))
        return GridRegionExpr(
            variable, args, inits, body, yields, extent, step, start, region.spread, metadata=region.metadata
        )


def instantiated(expr: Expr, values: Mapping[Var, Node]) -> Expr:
    """`expr` with Vars replaced by values of the same types, and new variables in its loops.

    It may stand beside the old one. The cost is linear in the size of `expr`.
    """
    return _Instance(values).expr(expr)


def operands_of(node: Expr) -> tuple[Node, ...]:
    """The expressions outside any loop body that must be rewritten before `node`."""
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Tuple):
        return node.elements
    if isinstance(node, GridRegionExpr):
        return (*node.init_args, node.extent, node.step, node.start)
    return ()


def _types_alike(a: Node, b: Node) -> bool:
    """Whether an operand may take the place of another without a change of the result's type.

    The indices in a Tuple may not: the layout of a window depends on where it starts.
    """
    if a is b:
        return True
    return isinstance(a, Expr) and isinstance(b, Expr) and not isinstance(a, Tuple) and a.type == b.type


def _atoms(node: Expr) -> list[Expr]:
    found: list[Expr] = []
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, Call) and isinstance(current.target, DimOp):
            stack.extend(current.args)
        elif isinstance(current, Expr) and not isinstance(current, Constant):
            found.append(current)
    return found


T = TypeVar("T")


def substitute(value: T, extents: Mapping[Expr, Node]) -> T:
    """An attribute, type, layout or mesh with DimVars replaced by extents."""
    return cast("T", _substitute(value, dict(extents))) if extents else value


def _substitute(value: object, extents: dict[Expr, Node]) -> object:
    if isinstance(value, Expr):
        return substitute_dim(value, extents)
    if isinstance(value, tuple):
        return tuple(_substitute(v, extents) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        changed = {name: _substitute(v, extents) for name, v in fields.items()}
        return value if changed == fields else dataclasses.replace(value, **changed)
    return value
