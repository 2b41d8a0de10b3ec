"""Evaluates a DAG on demand, each node once in the innermost loop that it depends on.

What does not depend on a loop's variables is evaluated outside of it, at most once and only if needed. The walk keeps
its own stack: the depth of a program is not bounded by Python's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from tilefoundry.diagnostics import EvalError, SourceSpan, TileFoundryError
from tilefoundry.evaluator.collect import check_complete, collected
from tilefoundry.evaluator.context import EvalContext
from tilefoundry.evaluator.dependences import Node, dependences, operands_of
from tilefoundry.evaluator.indices import fold
from tilefoundry.evaluator.linear import LinearCarries
from tilefoundry.evaluator.loops import run_loop
from tilefoundry.evaluator.participants import evaluate_spread, terms_of
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.evaluator.shape.insert_slice import insert_slice
from tilefoundry.evaluator.shape.insert_slice import write_window as write_into
from tilefoundry.evaluator.spread import Spread, Value, spreads
from tilefoundry.evaluator.unit_windows import read_window, write_window
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice, Local, MeshCoordinate, Reshard, Slice, TupleGetItem
from tilefoundry.ir.types import TensorType

# ops whose evaluation knows what units hold
BY_UNITS = (Local, MeshCoordinate, Reshard, TupleGetItem)


@dataclass
class Frame:
    """One iteration of a loop (or the function itself): its variables, and what was computed under them.

    Attributes:
        active: the units that take part in the iteration; None where all do.
    """

    variables: frozenset[int]
    values: dict[int, Value] = field(default_factory=dict)
    active: torch.Tensor | None = None


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
            try:
                frame.values[id(node)] = self._compute(node)
            except TileFoundryError as error:
                located = error.at(_place(stack))
                if located is error:
                    raise
                raise located from error
            except (MemoryError, RuntimeError) as error:
                if not _lacks_memory(error):
                    raise
                raise EvalError(
                    f"a value of type {node.type} does not fit in memory",
                    span=_place(stack),
                    remedy="evaluate the program with smaller extents",
                ) from error
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
        match node:
            case DimVar():
                return self.ctx.extent(node)
            case Constant(value):
                assert isinstance(node.type, TensorType)
                return self.ctx.tensor(value, node.type.dtype)
            case Tuple(elements):
                return tuple(self._get(element) for element in elements)
            case GridRegionExpr():
                return run_loop(self, node)
            case Call(target, args):
                return self._call(node, target, tuple(self._get(arg) for arg in args))
        raise EvalError(
            f"{node!r} has no value",
            span=span_of(node.metadata),
            remedy="evaluate a Function, whose parameters get values",
        )

    def _call(self, node: Call, target: object, values: tuple[Value, ...]) -> Value:
        ctx = self.ctx
        if isinstance(target, DimOp):
            return fold(ctx.units, target, values, ctx.device)
        if isinstance(target, ChildEntry):
            return self._child(target, node, values)
        evaluate = EVALUATORS.get(type(target)) if isinstance(target, Op) else None
        if evaluate is None:
            name = f"op '{target.op_name}'" if isinstance(target, Op) else repr(target)
            raise EvalError(
                f"the evaluator has no rule for {name}",
                span=span_of(node.metadata),
                remedy="add one to EVALUATORS of tilefoundry.evaluator.registry",
            )
        if isinstance(target, InsertSlice):
            return self._insert(node, target, values)
        if isinstance(target, BY_UNITS) or ctx.units is None or not _differs(ctx.units, node, values):
            return evaluate(ctx, target, node, values)
        if isinstance(target, Slice):
            return read_window(ctx, ctx.units, target, node, values, self._frame(node).active)
        return evaluate_spread(ctx.units, ctx.extent, node, values, lambda v: evaluate(ctx, target, node, v))

    def _insert(self, node: Call, target: InsertSlice, values: tuple[Value, ...]) -> Value:
        in_place = node.args[0] in self._linear
        active = self._frame(node).active
        if self.ctx.units is not None and (active is not None or any(True for _ in spreads(values))):
            return write_window(self.ctx, self.ctx.units, target, node, values, active, in_place)
        if in_place:
            write_into(self.ctx, target, values)
            return values[0]
        return insert_slice(self.ctx, target, node, values)

    def _child(self, target: ChildEntry, node: Call, values: tuple[Value, ...]) -> Value:
        children = self.ctx.children
        for name, arg in zip(target.activations, node.args, strict=True):
            check_complete(arg, f"activation '{name}' of child '{target.child}'")
        if children is None or target.child not in children:
            raise EvalError(
                f"child '{target.child}' has weights, and none are read here",
                remedy="read them with module.load(resource), and call what it returns with activations alone",
            )
        units = self.ctx.units
        if units is not None:
            named = zip(target.activations, values, node.args, strict=True)
            values = tuple(collected(units, v, arg, f"activation '{n}'") for n, v, arg in named)
        if not self.ctx.exact and self.ctx.options.mesh is None:
            return children[target.child](*values)
        return children[target.child](*values, options=self.ctx.options)

    def initial(self, var: Var, init: Expr) -> Value:
        """What a loop carries first; a copy where the loop writes into it."""
        value = self._get(init)
        if var in self._linear and init not in self._linear:  # else the outer loop has made the copy
            if isinstance(value, Spread):
                return Spread(value.data.clone(), value.units)
            assert isinstance(value, torch.Tensor)
            return value.clone()
        return value

    @property
    def active(self) -> torch.Tensor | None:
        """The units that take part in the innermost iteration that runs; None where all do."""
        return self._frames[-1].active

    @contextmanager
    def frame(self, values: Mapping[Var, Value], active: torch.Tensor | None) -> Iterator[None]:
        """Evaluates one iteration of a loop.

        Args:
            values: its variables and what it carries.
            active: the units that take part, in this loop and those around it.
        """
        known = {id(var): value for var, value in values.items()}
        self._frames.append(Frame(frozenset(known), known, active))
        try:
            yield
        finally:
            self._frames.pop()


def _differs(units: Units, node: Call, values: tuple[Value, ...]) -> bool:
    """Whether units hold different values before or after an op."""
    return any(True for _ in spreads(values)) or bool(terms_of(units, node))


def _lacks_memory(error: MemoryError | RuntimeError) -> bool:
    """Whether torch could not allocate; on the CPU its error has no class of its own."""
    words = ("can't allocate memory", "Storage size calculation overflowed")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(w in str(error) for w in words)


def _place(stack: list[Expr]) -> SourceSpan | None:
    """Where the innermost of some nodes, each among what the one below it needs, was written."""
    node = stack[-1]
    for user in reversed(stack):
        if user is node or any(operand is node for operand in operands_of(user)):
            if (span := span_of(user.metadata)) is not None:
                return span
            node = user
    return None
