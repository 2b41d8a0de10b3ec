"""Evaluates a DAG on demand, each node once in the innermost loop that it depends on.

What does not depend on a loop's variables is evaluated outside of it, at most once and only if needed. The walk keeps
its own stack: the depth of a program is not bounded by Python's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from tilefoundry.diagnostics import EvalError, TileFoundryError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.linear import LinearCarries
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.evaluator.shape.insert_slice import write_window
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice
from tilefoundry.ir.types import TensorType

Node = Expr | int


@dataclass
class Frame:
    """One iteration of a loop (or the function itself): its variables, and what was computed under them."""

    variables: frozenset[int]
    values: dict[int, Value] = field(default_factory=dict)


class Engine:
    """Evaluates the body of one function.

    Args:
        params: the values of the parameters.
    """

    def __init__(self, ctx: EvalContext, body: Expr, params: dict[Var, Value]) -> None:
        self.ctx = ctx
        self._frames = [Frame(frozenset(), {id(var): value for var, value in params.items()})]
        self._depends, nodes = dependences(body)
        self._linear = LinearCarries(nodes, body)

    def value(self, expr: Node) -> Value:
        """The value of an expression in the current iteration of the enclosing loops."""
        if isinstance(expr, int):
            return expr
        stack = [expr]
        while stack:
            node = stack[-1]
            frame = self._frame(node)
            if id(node) in frame.values:
                stack.pop()
                continue
            missing = [c for c in operands_of(node) if not isinstance(c, int) and id(c) not in self._frame(c).values]
            if missing:
                stack.extend(missing)
                continue
            frame.values[id(node)] = self._compute(node)
            stack.pop()
        return self._get(expr)

    def _frame(self, node: Expr) -> Frame:
        depends = self._depends[id(node)]
        for frame in reversed(self._frames):
            if not depends.isdisjoint(frame.variables):
                return frame
        return self._frames[0]

    def _get(self, node: Node) -> Value:
        return node if isinstance(node, int) else self._frame(node).values[id(node)]

    def _compute(self, node: Expr) -> Value:
        try:
            match node:
                case DimVar():
                    return self.ctx.extent(node)
                case Constant(value):
                    assert isinstance(node.type, TensorType)
                    return self.ctx.tensor(value, node.type.dtype)
                case Tuple(elements):
                    return tuple(self._get(element) for element in elements)
                case GridRegionExpr():
                    return self._region(node)
                case Call(target, args):
                    return self._call(node, target, tuple(self._get(arg) for arg in args))
        except TileFoundryError as error:
            located = error.at(span_of(node.metadata))
            if located is error:
                raise
            raise located from error
        raise EvalError(f"{node!r} has no value", span=span_of(node.metadata))

    def _call(self, node: Call, target: object, values: tuple[Value, ...]) -> Value:
        if isinstance(target, DimOp):
            return target.fold(*(int(v) for v in values))  # type: ignore[call-overload]
        if isinstance(target, ChildEntry):
            return self._child(target, values)
        evaluate = EVALUATORS.get(type(target)) if isinstance(target, Op) else None
        if evaluate is None:
            name = f"op '{target.op_name}'" if isinstance(target, Op) else repr(target)
            raise EvalError(f"the evaluator has no rule for {name}", span=span_of(node.metadata))
        if isinstance(target, InsertSlice) and node.args[0] in self._linear:
            write_window(self.ctx, target, values)
            return values[0]
        return evaluate(self.ctx, target, node, values)

    def _child(self, target: ChildEntry, values: tuple[Value, ...]) -> Value:
        children = self.ctx.children
        if children is None or target.child not in children:
            raise EvalError(
                f"child '{target.child}' has weights, and none are read here",
                remedy="read them with module.load(resource), and call what it returns with activations alone",
            )
        if self.ctx.exact:
            raise EvalError(f"child '{target.child}' evaluates in declared precision only", remedy='leave "f64" out')
        return children[target.child](*values)

    def _region(self, region: GridRegionExpr) -> Value:
        start, extent, step = (self._get(b) for b in (region.start, region.extent, region.step))
        carried = [self._initial(*pair) for pair in zip(region.carried_args, region.init_args, strict=True)]
        variables = (region.induction_var, *region.carried_args)
        own = frozenset(id(v) for v in variables)
        last: Value = ()
        assert isinstance(start, int) and isinstance(extent, int) and isinstance(step, int)
        for index in range(start, extent, step):
            self._frames.append(Frame(own, {id(v): x for v, x in zip(variables, (index, *carried), strict=True)}))
            try:
                carried = [self.value(value) for value in region.yield_values]
                if region.body is not None:
                    last = self.value(region.body)
            finally:
                self._frames.pop()
        if not region.carried_args:
            return last
        return carried[0] if len(carried) == 1 else tuple(carried)

    def _initial(self, var: Var, init: Expr) -> Value:
        value = self._get(init)
        if var in self._linear and init not in self._linear:  # else the outer loop has made the copy
            assert isinstance(value, torch.Tensor)
            return value.clone()
        return value


def operands_of(node: Expr) -> tuple[Node, ...]:
    """What must have a value before `node` is computed; the body of a loop is not among it."""
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Tuple):
        return node.elements
    if isinstance(node, GridRegionExpr):
        return (*node.init_args, node.start, node.extent, node.step)
    return ()


def dependences(body: Expr) -> tuple[dict[int, frozenset[int]], list[Expr]]:
    """For each node, by id, the ids of the loop variables and carried values that it depends on; and all nodes."""
    nodes: list[Expr] = []
    found: dict[int, frozenset[int]] = {}
    loop_vars: set[int] = set()
    stack: list[Expr] = [body]
    while stack:
        node = stack[-1]
        if id(node) in found:
            stack.pop()
            continue
        children = [c for c in _children(node) if not isinstance(c, int)]
        if isinstance(node, GridRegionExpr):
            loop_vars.update(id(v) for v in (node.induction_var, *node.carried_args))
        missing = [c for c in children if id(c) not in found]
        if missing:
            stack.extend(missing)
            continue
        depends = frozenset().union(*(found[id(c)] for c in children)) if children else frozenset()
        if isinstance(node, GridRegionExpr):
            depends -= {id(v) for v in (node.induction_var, *node.carried_args)}
        elif isinstance(node, Var) and id(node) in loop_vars:
            depends = frozenset((id(node),))
        found[id(node)] = depends
        nodes.append(node)
        stack.pop()
    return found, nodes


def _children(node: Expr) -> tuple[Node, ...]:
    if isinstance(node, GridRegionExpr):
        return (
            *operands_of(node),
            *node.carried_args,
            node.induction_var,
            *node.yield_values,
            *(() if node.body is None else (node.body,)),
        )
    return operands_of(node)
