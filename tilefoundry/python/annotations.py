"""``Tensor[...]`` in annotations and bodies: from what was written to a TensorType."""

from __future__ import annotations

import ast
from typing import get_args, get_origin

from tilefoundry.dsl.tensor import ConstTensor, Tensor, TensorSpec
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    Placed,
    ShardLayout,
    flatten,
    per_unit_strides,
    row_major,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType, TupleType, resolve_storage
from tilefoundry.python.layouts import AnyLayout, resolve_layout
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Described, Index, StateSet, Window, as_index, describe, is_index

FORM = 'write Tensor[(64, 64), "f32"], optionally followed by a layout and a storage'


def tensor_type(p: Parser, node: ast.AST, spec: TensorSpec) -> TensorType:
    """The type that a ``Tensor[...]`` means; the default storage is gmem."""
    items = spec.items
    if not 2 <= len(items) <= 4:
        p.refuse(node, f"Tensor takes a shape, a dtype, a layout and a storage, got {len(items)} item(s)", FORM)
    if isinstance(items[0], int) and not isinstance(items[0], bool):
        p.refuse(node, f"expected a tuple as shape, got {items[0]}", f"write Tensor[({items[0]},), ...]")
    if not isinstance(items[0], tuple):
        p.refuse(node, f"expected a tuple as shape, got {describe(items[0])}", FORM)
    shape = tuple(_extent(p, node, e) for e in items[0])
    dtype = _dtype(p, node, items[1])
    layout: AnyLayout | None = None
    if any(isinstance(e, Placed) for e in items[0]):
        layout = resolve_layout(p, node, items[0])
    storage: StorageKind | None = None
    for item in items[2:]:
        if _is_layout(item) and layout is None and storage is None:
            layout = resolve_layout(p, node, item)
        elif isinstance(item, (str, StorageKind)) and storage is None:
            with p.located(node):
                storage = resolve_storage(item)
        elif item is not None:
            p.refuse(node, f"expected a layout, then a storage, got {describe(item)}", FORM)
    storage = StorageKind.GMEM if storage is None else storage
    with p.located(node):
        return TensorType(shape, dtype, _materialised(layout, storage), storage)


def _materialised(layout: AnyLayout | None, storage: StorageKind) -> AnyLayout | None:
    """Strides for a layout written without: row-major, where registers hold each unit's part apart."""
    if isinstance(layout, ShardLayout) and layout.layout.strides is None:
        apart = storage is StorageKind.RMEM
        return with_strides(layout, per_unit_strides(layout) if apart else shared_strides(layout))
    if isinstance(layout, Layout) and layout.strides is None:
        return row_major(flatten(layout.shape))
    return layout


def _is_layout(item: object) -> bool:
    return isinstance(item, (tuple, Layout, ComposedLayout, ShardLayout, StateSet, set, frozenset, Placed))


def _extent(p: Parser, node: ast.AST, extent: object) -> Index:
    if isinstance(extent, Placed):
        return extent.extent
    too_large = type(extent) is int and not is_index(extent)
    if not (too_large or is_index(extent)) or isinstance(extent, Window):
        hides = isinstance(extent, (Described, Function))
        p.refuse(
            node,
            f"expected an int or a DimVar as extent, got {describe(extent)}",
            "give the function another name: here it hides what the name means outside" if hides else FORM,
        )
    index = as_index(extent)
    if isinstance(index, int) and not 0 <= index < 1 << 63:
        p.refuse(
            node,
            f"expected an extent from 0 to 2**63 - 1, got {index}",
            "write a non-negative int below 2**63, or a DimVar",
        )
    return index


def _dtype(p: Parser, node: ast.AST, dtype: object) -> DType:
    if not isinstance(dtype, str):
        p.refuse(node, f"expected a dtype name, got {describe(dtype)}", 'write it as a string, e.g. "f32"')
    with p.located(node):
        return DType.from_name(dtype)


def parameter_spec(p: Parser, node: ast.expr, value: object) -> TensorSpec:
    """The annotation of one parameter; a string (postponed evaluation, or quotes) is evaluated from its syntax."""
    if isinstance(value, str):
        value = p.evaluate(_unquoted(p, node))
    if not isinstance(value, TensorSpec):
        p.refuse(node, f"expected a Tensor[...] or ConstTensor[...] annotation, got {_written(value)}", FORM)
    return value


def return_type(p: Parser, node: ast.expr, value: object) -> TensorType | TupleType:
    """The type of a return annotation: ``Tensor[...]`` or a tuple of them."""
    if isinstance(value, str):
        value = p.evaluate(_unquoted(p, node))
    if isinstance(value, TensorSpec):
        if value.is_const:
            p.refuse(node, "a result cannot be a ConstTensor", "write Tensor[...]")
        return tensor_type(p, node, value)
    fields = get_args(value) if get_origin(value) is tuple else value  # tuple[Tensor[...], ...]
    if isinstance(fields, (tuple, list)) and fields and not any(isinstance(f, str) for f in fields):
        return TupleType(tuple(return_type(p, node, f) for f in fields))
    p.refuse(node, f"expected Tensor[...] or a tuple of them as return type, got {_written(value)}", FORM)


def _unquoted(p: Parser, node: ast.expr) -> ast.expr:
    """The expression of an annotation; what is written in quotes stands where the quotes stand."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return node
    try:
        inner = ast.parse(node.value.strip(), mode="eval").body
    except SyntaxError as error:
        p.refuse(node, f"the text of this annotation is no expression: {error.msg}", FORM)
    for part in ast.walk(inner):
        ast.copy_location(part, node)
    return inner


def _written(value: object) -> str:
    if value is Tensor or value is ConstTensor:
        return f"{value.__name__} without a shape"
    return f"'{value.__name__}'" if isinstance(value, type) else describe(value)
