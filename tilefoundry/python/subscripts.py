"""``x[...]``: an int drops an axis, a slice keeps it, a ``tile`` variable takes its window; the rest is whole."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, get_origin

from tilefoundry.dsl.tensor import ConstTensor, Tensor
from tilefoundry.ir import dims
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.dims.normal_form import Poly, poly_of, to_dim
from tilefoundry.ir.hir import Binary, BinaryKind, Slice, TupleGetItem
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.types import TensorType
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Index, Window, as_index, describe, is_index, is_runtime_index


@dataclass(frozen=True)
class AxisSlice:
    """What a subscript takes of one axis."""

    start: Index
    size: Index
    stride: int = 1
    drop: bool = False
    boundary: str = "error"


def subscript(p: Parser, node: ast.AST) -> object:
    """A tensor slice, a ``Tensor[...]`` type, or an element of a captured sequence."""
    assert isinstance(node, ast.Subscript)
    return part_of(p, node, p.evaluate(node.value))


def part_of(p: Parser, node: ast.Subscript, value: object) -> object:
    """What a subscript takes of a value."""
    if value is Tensor or value is ConstTensor:
        items = p.evaluate(node.slice)
        return Tensor[items] if value is Tensor else ConstTensor[items]
    if value is tuple or get_origin(value) is tuple:  # a return annotation under postponed evaluation
        items = p.evaluate(node.slice)
        return items if isinstance(items, tuple) else (items,)
    if isinstance(value, Expr):
        return _field(p, node, value) if isinstance(value.type, TupleType) else _tensor_slice(p, node, value)
    if isinstance(value, (tuple, list, dict, str, Mesh)):
        return _element(p, node, value)
    p.refuse(
        node,
        f"expected a tensor or a sequence before '[', got {describe(value)}",
        "subscript a tensor, or a captured tuple, list or dict",
    )


def _field(p: Parser, node: ast.Subscript, value: Expr) -> Expr | int:
    """One of several values: of what an op or a function returned, or of what an elaborated function did."""
    assert isinstance(value.type, TupleType)
    key, count = _key(p, node.slice), len(value.type.fields)
    if isinstance(key, bool) or not isinstance(key, int) or not -count <= key < count:
        p.refuse(
            node.slice,
            f"expected an int from {-count} to {count - 1} as the subscript of {count} values, got {describe(key)}",
            "write p[0], or unpack them: a, b = ...",
        )
    if isinstance(value, Tuple):
        return value.elements[key]
    return p.call(node, TupleGetItem(key % count), (value,))


def _element(p: Parser, node: ast.Subscript, value: Any) -> object:
    """An element of a captured sequence, or the mesh of some units."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = [_key(p, item) for item in items]
    key = tuple(keys) if isinstance(node.slice, ast.Tuple) else keys[0]
    if any(isinstance(k, (Expr, Window)) for k in keys):
        p.refuse(
            node,
            f"{describe(value)} needs indices known at compile time, got {describe(key)}",
            "use an int: a loop variable has no value until the program runs",
        )
    with p.located(node):
        try:
            return value[key]
        except LookupError as error:
            p.refuse(node, f"subscript {key!r} does not fit {describe(value)}: {error}", "use a subscript that it has")


def _key(p: Parser, item: ast.expr) -> object:
    if not isinstance(item, ast.Slice):
        return p.evaluate(item)
    return slice(*(None if part is None else p.evaluate(part) for part in (item.lower, item.upper, item.step)))


def _tensor_slice(p: Parser, node: ast.Subscript, x: Expr) -> Expr:
    assert isinstance(x.type, TensorType)
    shape = x.type.shape
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    ellipses = [i for i, item in enumerate(items) if isinstance(item, ast.Constant) and item.value is ...]
    if len(ellipses) > 1:
        p.refuse(items[ellipses[1]], "more than one '...' in a subscript", "keep one")
    given = len(items) - len(ellipses)
    if given > len(shape):
        p.refuse(node, f"{given} subscripts for a tensor of rank {len(shape)} ({x.type})", "remove some")
    fill: list[ast.expr | None] = [None] * (len(shape) - given)
    at = ellipses[0] if ellipses else len(items)
    per_axis: list[ast.expr | None] = [*items[:at], *fill, *items[at + len(ellipses) :]]
    if not per_axis:
        return x
    parts = [_axis(p, item, extent, axis) for axis, (item, extent) in enumerate(zip(per_axis, shape, strict=True))]
    with p.located(node):
        op = Slice(
            tuple(part.size for part in parts),
            tuple(part.stride for part in parts),
            tuple(axis for axis, part in enumerate(parts) if part.drop),
            tuple(part.boundary for part in parts),
        )
    return p.call(node, op, (x, Tuple(tuple(part.start for part in parts))))


def _axis(p: Parser, item: ast.expr | None, extent: Index, axis: int) -> AxisSlice:
    if item is None:
        return AxisSlice(0, extent)
    if isinstance(item, ast.Slice):
        return _range(p, item, extent, axis)
    value = read_coordinate(p, item, p.evaluate(item))
    if isinstance(value, Window):
        return AxisSlice(value.start, value.size, boundary="zero")
    if not is_index(value):
        p.refuse(
            item,
            f"axis {axis}: expected an int, a slice or a loop variable as a subscript, got {describe(value)}",
            remedy="use tf.reshape to add an axis"
            if value is None
            else "write a run-time start as x[i:i + 1]"
            if is_runtime_index(value)
            else "write x[0], x[a:b], or x[i] with a loop variable",
        )
    return AxisSlice(_checked(p, item, as_index(value), extent, axis), 1, drop=True)


def _checked(p: Parser, item: ast.AST, index: Index, extent: Index, axis: int) -> Index:
    """A static index, made non-negative and checked against a static extent."""
    if not isinstance(index, int):
        return index
    if isinstance(extent, int):
        if not -extent <= index < extent:
            p.refuse(
                item,
                f"axis {axis}: index {index} is out of range for extent {extent}",
                f"use an index from {-extent} to {extent - 1}",
            )
        return index % extent
    with p.located(item):
        return dims.dim_add(extent, index) if index < 0 else index


def _range(p: Parser, item: ast.Slice, extent: Index, axis: int) -> AxisSlice:
    stride = 1 if item.step is None else p.evaluate(item.step)
    if isinstance(stride, bool) or not isinstance(stride, int) or stride < 1:
        p.refuse(
            item,
            f"axis {axis}: expected a positive int as slice step, got {describe(stride)}",
            "write x[a:b:k] with an int k of 1 or more; tf.flip reverses",
        )
    start = _bound(p, item.lower, 0, extent, axis)
    stop = _bound(p, item.upper, extent, extent, axis)
    with p.located(item):
        size = dims.ceildiv(_distance(start, stop), stride)
    if not isinstance(size, int):
        if not all(isinstance(atom, dims.DimVar) for atom in dims.dim_atoms(size)):
            p.refuse(
                item,
                f"axis {axis}: cannot prove that the slice has a fixed length",
                remedy="write a run-time start as 'start:start + K' with a constant K",
            )
    elif size < 0:
        p.refuse(item, f"axis {axis}: the slice ends before it starts", "write the smaller bound first")
    return AxisSlice(start, size, stride)


def _bound(p: Parser, node: ast.expr | None, default: Index, extent: Index, axis: int) -> Index:
    if node is None:
        return default
    value = read_coordinate(p, node, p.evaluate(node))
    if is_runtime_index(value):
        assert isinstance(value, Expr)
        return value
    if not is_index(value) or isinstance(value, Window):
        p.refuse(
            node,
            f"axis {axis}: expected an int or an index as slice bound, got {describe(value)}",
            remedy="subscript by the tile variable itself: x[i]"
            if isinstance(value, Window)
            else "write an int, a loop variable, an integer scalar, or arithmetic on these",
        )
    bound = as_index(value)
    if isinstance(bound, int) and bound < 0:
        if isinstance(extent, int) and bound < -extent:
            p.refuse(
                node,
                f"axis {axis}: slice bound {bound} is out of range for extent {extent}",
                f"use a bound from {-extent} to {extent}",
            )
        with p.located(node):
            return dims.dim_add(extent, bound)
    if isinstance(bound, int) and isinstance(extent, int) and bound > extent:
        p.refuse(node, f"axis {axis}: slice bound {bound} is out of range for extent {extent}", f"use {extent}")
    return bound


def _distance(start: Index, stop: Index) -> Index:
    """``stop - start`` in normal form; it is a constant where both are the same scalars plus constants."""
    return to_dim(_sum(_poly(stop), _poly(start), -1))


def _poly(bound: Index) -> Poly:
    """The polynomial of a bound, which sees through the sums and differences of run-time scalars.

    Overflow cannot make it wrong: a window has its start and its length, and the length is the difference that wraps.
    """
    if isinstance(bound, Call) and isinstance(bound.target, Binary):
        lhs, rhs = (_poly(arg) for arg in bound.args)
        if bound.target.kind in (BinaryKind.ADD, BinaryKind.SUB):
            return _sum(lhs, rhs, 1 if bound.target.kind is BinaryKind.ADD else -1)
        if bound.target.kind is BinaryKind.MUL and set(rhs) <= {()}:
            return _sum({}, lhs, rhs.get((), 0))
    return poly_of(bound)


def _sum(a: Poly, b: Poly, factor: int) -> Poly:
    """``a + factor * b``."""
    total = {m: a.get(m, 0) + factor * b.get(m, 0) for m in (*a, *b)}
    return {m: c for m, c in total.items() if c}
