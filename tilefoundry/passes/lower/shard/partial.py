"""Partial values: each instance holds a term in registers; a reshard that lacks the state adds the terms up."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import Reduce, ReduceKind
from tilefoundry.ir.shard import Layout, Partial, ShardLayout, Split, flatten
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.empty import is_empty
from tilefoundry.passes.lower.matrix.local import exact_product, is_local
from tilefoundry.passes.lower.reduce.reduce import reduce_fragment
from tilefoundry.passes.lower.shape.place import write
from tilefoundry.passes.modes import held

_KINDS = {"sum": ReduceKind.SUM, "max": ReduceKind.MAX, "min": ReduceKind.MIN}


def completed(ctx: Lowering, call: Expr, source: Expr) -> Var | None:
    """The value that a reshard completes, on all instances that have a term of it; None where nothing is partial.

    A scalar is given as a fragment of one element.
    """
    terms = _terms(tensor_type(source), tensor_type(call))
    if not terms:
        return None
    assert isinstance(call, Call)  # of Reshard
    value = _held(ctx, call, source)
    for reduction in dict.fromkeys(terms.values()):
        axes = [axis for axis, of in terms.items() if of == reduction]
        value = _combined(ctx, call, value, axes, _KINDS[reduction])
    wanted = tensor_type(source).dtype
    if tensor_type(value).dtype is wanted:
        return value
    dst = ctx.alloc(value.name, replace(tensor_type(value), dtype=wanted))
    ctx.emit(tir.Cast(), value, dst)
    return dst


def completed_scalar(ctx: Lowering, call: Expr, source: Expr) -> Expr | None:
    """The same for a scalar."""
    value = completed(ctx, call, source)
    if value is None:
        return None
    return ctx.bind("element", tir.Element(), (value,), TensorType.umat_scalar(tensor_type(value).dtype))


def _held(ctx: Lowering, call: Call, source: Expr) -> Var:
    """The terms, in registers."""
    if is_local(source) and isinstance(source, Call) and not any(map(is_empty, source.args)):
        return exact_product(ctx, source)
    value, type_ = ctx.lower(source), tensor_type(source)
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.RMEM and type_.shape:
        return value
    if not type_.shape:
        assert isinstance(type_.layout, ShardLayout)
        one = ShardLayout(Layout((1,), (1,)), type_.layout.attrs, type_.layout.mesh)
        type_ = TensorType((1,), type_.dtype, one, StorageKind.RMEM)
    dst = ctx.alloc("terms", type_)
    write(ctx, call, value, dst)
    return dst


def _terms(source: TensorType, to: TensorType) -> dict[int, str]:
    """The mesh axes along which a reshard combines terms, each with how."""
    layout, target = source.layout, to.layout
    if not isinstance(layout, ShardLayout):
        return {}
    kept = target.attrs if isinstance(target, ShardLayout) and target.mesh == layout.mesh else ()
    return {
        axis: attr.reduction
        for axis, attr in enumerate(layout.attrs)
        if isinstance(attr, Partial) and not (kept and kept[axis] == attr)
    }


def _combined(ctx: Lowering, call: Call, value: Var, axes: list[int], kind: ReduceKind) -> Var:
    """The terms as a tensor that has an axis more for each mesh axis, which is split over it; that axis is reduced."""
    type_ = held(tensor_type(value))
    layout = type_.layout
    assert isinstance(layout, ShardLayout) and layout.layout.strides is not None
    more = len(axes)
    extents = tuple(layout.mesh.shape[axis] for axis in axes)
    spread = {axis: Split(k) for k, axis in enumerate(axes)}
    attrs = tuple(
        spread.get(axis, Split(attr.axis + more) if isinstance(attr, Split) else attr)
        for axis, attr in enumerate(layout.attrs)
    )
    modes = Layout((*extents, *layout.shape), (*(0,) * more, *flatten(layout.layout.strides)))
    terms = replace(type_, shape=(*extents, *type_.shape), layout=ShardLayout(modes, attrs, layout.mesh))
    op = Reduce(tuple(range(more)), True, kind)
    src = ctx.view(value, terms)
    dst = ctx.alloc(kind.name.lower(), tensor_type(Call(op, (src,), metadata=call.metadata)))
    reduce_fragment(ctx, call, op, src, dst)
    found = tensor_type(dst)
    assert isinstance(found.layout, ShardLayout) and found.layout.layout.strides is not None
    own = ShardLayout(
        Layout(found.layout.shape[more:], flatten(found.layout.layout.strides)[more:]),
        tuple(Split(attr.axis - more) if isinstance(attr, Split) else attr for attr in found.layout.attrs),
        layout.mesh,
    )
    return ctx.view(dst, replace(type_, layout=own))
