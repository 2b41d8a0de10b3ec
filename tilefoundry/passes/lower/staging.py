"""Fragments through shared memory: what ops need that address elements at run time, which registers do not allow.

A staged tile is a CTA's own part of the tensor: axes that are spread over CTAs have what one of them holds.
"""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.dims import dim_product
from tilefoundry.ir.shard import Broadcast, Layout, MeshAxis, ShardLayout, Split, axis_levels, group_modes, row_major
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.modes import fragment_view_type


def staged(ctx: Lowering, at: Expr, fragment: Var) -> Var:
    """A shared tile with the elements of a fragment that the CTA holds."""
    part = cta_part(tensor_type(fragment))
    tile = staging_tile(ctx, f"{fragment.name}_tile", part)
    ctx.emit(tir.Copy(), fragment, ctx.view(tile, _seen(ctx, at, tile, part)))
    return tile


def unstaged(ctx: Lowering, at: Expr, tile: Var, fragment: Var) -> None:
    """Emits what reads a fragment from a shared tile of the CTA's part."""
    ctx.emit(tir.Copy(), ctx.view(tile, _seen(ctx, at, tile, cta_part(tensor_type(fragment)))), fragment)


def moves_staged(ctx: Lowering, at: Expr, src: Var, dst: Var) -> bool:
    """Emits what moves a fragment to another layout through shared memory; False where CTAs would have to exchange.

    Copies of an element agree, as a reshard wants it.
    """
    source, to = tensor_type(src), tensor_type(dst)
    if _over_ctas(source) and _over_ctas(source) != _over_ctas(to):
        return False
    part, wanted = cta_part(source), cta_part(to) if _over_ctas(source) else to
    tile = staging_tile(ctx, f"{src.name}_tile", part)
    ctx.emit(tir.Copy(), src, ctx.view(tile, _seen(ctx, at, tile, part)))
    ctx.emit(tir.Copy(), ctx.view(tile, _seen(ctx, at, tile, wanted)), dst)
    return True


def _over_ctas(type_: TensorType) -> tuple[tuple[MeshAxis, int, ShapeDim, ShapeDim], ...]:
    """How axes are split over CTAs: for each mesh axis that splits one, the two, and the number and size of parts."""
    layout = type_.layout
    assert isinstance(layout, ShardLayout)  # of a fragment
    groups = group_modes(layout.shape, type_.shape)
    assert groups is not None
    found = []
    levels = axis_levels(layout.mesh)
    for number, attr in enumerate(layout.attrs):
        if isinstance(attr, Split) and layout.mesh.topologies[levels[number]].name == "cta":
            axis = next(k for k, group in enumerate(groups) if attr.axis in group)
            inner = dim_product(layout.shape[mode] for mode in groups[axis] if mode > attr.axis)
            found.append((MeshAxis(layout.mesh, number), axis, layout.shape[attr.axis], inner))
    return tuple(found)


def staging_tile(ctx: Lowering, hint: str, part: TensorType) -> Var:
    """A shared tile for a CTA's part, with padded rows."""
    from tilefoundry.passes.lower.shard.reshard import padded

    return ctx.alloc(hint, padded(TensorType(part.shape, part.dtype, row_major(part.shape), StorageKind.SMEM)))


def cta_part(type_: TensorType) -> TensorType:
    """A fragment's type with the extents that one CTA holds: as if its coordinates along CTA axes were 0."""
    layout = type_.layout
    assert isinstance(layout, ShardLayout)  # of a fragment
    groups = group_modes(layout.shape, type_.shape)
    levels = axis_levels(layout.mesh)
    modes, attrs = list(layout.shape), list(layout.attrs)
    for axis, attr in enumerate(layout.attrs):
        if isinstance(attr, Split) and layout.mesh.topologies[levels[axis]].name == "cta":
            modes[attr.axis], attrs[axis] = 1, Broadcast()
    if groups is None or modes == list(layout.shape):
        return type_
    shape = tuple(dim_product(modes[mode] for mode in group) for group in groups)
    own = ShardLayout(Layout(tuple(modes), layout.layout.strides), tuple(attrs), layout.mesh)
    return TensorType(shape, type_.dtype, own, type_.storage)


def _seen(ctx: Lowering, at: Expr, tile: Var, part: TensorType) -> TensorType:
    view = fragment_view_type(tensor_type(tile), part)
    if view is None:
        ctx.refuse(
            at,
            f"a fragment laid out as {part.layout} cannot go through shared memory",
            remedy="write the factors of each axis one after the other",
        )
    return view
