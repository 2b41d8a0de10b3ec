"""A function of HIR as a graph of values: what is drawn, without any geometry."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import binding_name, span_of
from tilefoundry.ir.core.op import Op, attributes_of
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar, dim_atoms
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.shard import Layout, row_major
from tilefoundry.ir.traverse import FreeVars, free_variables, post_order
from tilefoundry.ir.types import TensorType, TupleType

_WRAP = 44  # characters of a line in a box

Kind = Literal["input", "weight", "index", "carried", "op", "loop", "yield", "result"]


@dataclass(eq=False)
class Node:
    """One box. Boxes are compared by identity.

    Attributes:
        title: its first line.
        lines: those below.
        tip: all that there is to say, for the pointer.
        body: the boxes inside of a loop.
    """

    kind: Kind
    title: str
    lines: tuple[str, ...] = ()
    tip: str = ""
    body: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Edge:
    """A value on its way; dashed where it is an index or an extent."""

    source: Node
    target: Node
    dashed: bool = False


@dataclass(frozen=True)
class Graph:
    """The boxes of a function, in the order of the program, and all edges, also those between inner boxes."""

    nodes: list[Node]
    edges: dict[Edge, None]  # a set that keeps the order


def graph_of(fn: Function) -> Graph:
    """The graph of a function; of a prototype its parameters alone."""
    return _Builder(fn).graph


class _Builder:
    def __init__(self, fn: Function) -> None:
        self.graph = Graph([], {})
        self._nodes: dict[int, Node] = {}
        self._free: FreeVars = {}
        self._block: dict[int, list[Node]] = {}  # by the identity of a variable that a loop binds
        self._depth: dict[int, int] = {}
        for param in fn.params:
            self._add(param, Node("weight" if param.is_const else "input", param.name, *_typed(param.type)), [])
        if fn.body is None:
            return
        self._free = free_variables(fn.body)
        for region in _outside_in(fn.body):
            self._loop(region)
        for expr in post_order(fn.body):
            self._visit(expr)
        for expr in post_order(fn.body):
            if isinstance(expr, GridRegionExpr):
                self._yields(expr)
        results = fn.body.elements if isinstance(fn.body, Tuple) else (fn.body,)
        self._place(self.graph.nodes, Node("result", f"return of {fn.name}", *_typed(fn.return_type)), results)

    # -- boxes

    def _loop(self, region: GridRegionExpr) -> None:
        """A loop and what it binds; those around it are there already."""
        var = region.induction_var.name
        bounds = ", ".join(format_dim(d) for d in (region.start, region.extent, region.step))
        spread = f" spread over {region.spread.name}" if region.spread is not None else ""
        node = Node("loop", f"for {var} in range({bounds}){spread}", tip=f"{_place(region)}value: {region.type}")
        self._nodes[id(region)] = node
        index = Node("index", var, *_typed(region.induction_var.type))
        node.body.append(index)
        self._nodes[id(region.induction_var)] = index
        for carried in region.carried_args:
            inner = Node("carried", carried.name, *_typed(carried.type))
            node.body.append(inner)
            self._nodes[id(carried)] = inner
        depth = self._home(region)[1] + 1
        for bound in (region.induction_var, *region.carried_args):
            self._block[id(bound)], self._depth[id(bound)] = node.body, depth

    def _visit(self, expr: Expr) -> None:
        if isinstance(expr, GridRegionExpr):
            node = self._nodes[id(expr)]
            self._place(self._home(expr)[0], node, (expr.start, expr.extent, expr.step))
            for initial, carried in zip(expr.init_args, expr.carried_args, strict=True):
                self._connect(initial, self._nodes[id(carried)])
        elif isinstance(expr, Call) and not isinstance(expr.target, DimOp):
            lines, tip = _typed(expr.type)
            written = (_inline(arg) for arg in expr.args)
            scalars = [f"({text})" if "," in text else text for text in written if text is not None]
            more = [*(f"{name} = {value}" for name, value in _attributes(expr)), *(f"arg {s}" for s in scalars)]
            name = binding_name(expr)
            title = f"{name} = {_called(expr)}" if name else _called(expr)
            full = "\n".join([f"{_place(expr)}{title}", *more, tip])
            self._add(expr, Node("op", title, (*_wrapped(more), *lines), full), expr.args)

    def _yields(self, region: GridRegionExpr) -> None:
        node = self._nodes[id(region)]
        ends = region.yield_values if region.body is None else (region.body,)
        for k, value in enumerate(ends):
            name = region.carried_args[k].name if k < len(region.carried_args) else "value"
            self._place(node.body, Node("yield", f"next {name}", *_typed(value.type)), (value,))

    def _add(self, expr: Expr, node: Node, args: Iterable[object]) -> None:
        self._nodes[id(expr)] = node
        self._place(self._home(expr)[0], node, args)

    def _place(self, block: list[Node], node: Node, args: Iterable[object]) -> None:
        block.append(node)
        for arg in args:
            self._connect(arg, node)

    def _home(self, expr: Expr) -> tuple[list[Node], int]:
        """The innermost loop on whose variables a value depends: it is computed there, and not further in."""
        bound = [v for v in self._free.get(id(expr), ()) if id(v) in self._block]
        if not bound:
            return self.graph.nodes, 0
        inner = max(bound, key=lambda v: self._depth[id(v)])
        return self._block[id(inner)], self._depth[id(inner)]

    # -- edges

    def _connect(self, value: object, node: Node) -> None:
        for source, dashed in self._sources(value):
            self.graph.edges[Edge(source, node, dashed)] = None

    def _sources(self, value: object) -> list[tuple[Node, bool]]:
        if isinstance(value, Tuple):
            return [found for element in value.elements for found in self._sources(element)]
        if isinstance(value, Expr) and id(value) in self._nodes:
            return [(self._nodes[id(value)], isinstance(value, Var) and self._nodes[id(value)].kind == "index")]
        if _inline(value) is None or isinstance(value, (int, Constant)):
            return []
        return [(self._nodes[id(a)], True) for a in dim_atoms(value) if id(a) in self._nodes]  # type: ignore[arg-type]


def _outside_in(body: Expr) -> list[GridRegionExpr]:
    """The loops of a function, each after those around it."""
    return [expr for expr in reversed(list(post_order(body))) if isinstance(expr, GridRegionExpr)]


def _called(call: Call) -> str:
    target = call.target
    if isinstance(target, Op):
        kind = dict(target.attributes()).get("kind")
        return f"{target.op_name} {kind.name.lower()}" if isinstance(kind, enum.Enum) else target.op_name
    return f"child {target.child}" if isinstance(target, ChildEntry) else target.label()


def _attributes(call: Call) -> list[tuple[str, str]]:
    """Attributes in words, without those at their default and those that the title or the type of the value says."""
    if not isinstance(call.target, Op):
        return []
    defaults = {param.name: param.default for param in attributes_of(type(call.target))}
    return [
        (name, value.name.lower() if isinstance(value, enum.Enum) else str(value))
        for name, value in call.target.attributes()
        if name not in ("kind", "type", "layout", "storage") and value != defaults.get(name)
    ]


def _inline(value: object) -> str | None:
    """A scalar or a tuple of scalars as text; None for what has a box of its own."""
    if isinstance(value, Tuple):
        parts = [_inline(element) for element in value.elements]
        return None if None in parts or not parts else ", ".join(p for p in parts if p is not None)
    if isinstance(value, (int, Constant, DimVar)) or (isinstance(value, Call) and isinstance(value.target, DimOp)):
        return format_dim(value)
    if isinstance(value, Var) and isinstance(value.type, TensorType) and value.type.shape == ():
        return value.name
    return None


def _typed(type_: Type) -> tuple[tuple[str, ...], str]:
    """The lines that say a type, and the whole of it."""
    if isinstance(type_, TupleType):
        return tuple(line for part in type_.fields for line in _typed(part)[0]), str(type_)
    if not isinstance(type_, TensorType):
        return (str(type_),), str(type_)
    shape = ",".join(format_dim(d) for d in type_.shape)
    lines = [f"({shape}) {type_.dtype} {type_.storage}"]
    plain = type_.layout is None or (isinstance(type_.layout, Layout) and type_.layout == row_major(type_.shape))
    return (*lines, *([] if plain else _wrapped([str(type_.layout)]))), str(type_)


def _wrapped(texts: list[str]) -> tuple[str, ...]:
    return tuple(line for text in texts for line in textwrap.wrap(text, _WRAP) or [""])


def _place(expr: Expr) -> str:
    """Where the author wrote it, as the start of a tip."""
    span = span_of(expr.metadata)
    return "" if span is None else f"line {span.line}\n"
