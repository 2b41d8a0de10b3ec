"""Parts of what lies somewhere: windows of fragments and of shared tiles, and global tensors with other axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Constant, Expr, Var
from tilefoundry.ir.dims import dim_add, dim_min, dim_mul, dim_product, dim_sub
from tilefoundry.ir.hir.shape.reshape import view_strides
from tilefoundry.ir.shard import (
    Layout,
    ShardLayout,
    Split,
    flat_modes,
    group_modes,
    per_unit_strides,
    row_major,
    with_strides,
)
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.values import Scalar, Window


def fresh_type(type_: TensorType) -> TensorType:
    """The type of a fresh tensor that holds such a value: registers without gaps, rows of a shared tile padded."""
    from tilefoundry.passes.lower.shard.reshard import padded

    if type_.storage is StorageKind.SMEM:
        return padded(type_)
    assert isinstance(type_.layout, ShardLayout)
    return replace(type_, layout=with_strides(type_.layout, per_unit_strides(type_.layout)))


def part(
    ctx: Lowering,
    at: Expr,
    whole: Var,
    starts: Sequence[Scalar],
    sizes: Sequence[ShapeDim],
    steps: Sequence[int],
    drop: Sequence[int] = (),
) -> Var:
    """A view of every ``steps[k]``-th element, ``sizes[k]`` of them, from ``starts`` on, without the axes in ``drop``.

    A negative step goes backwards from the start. Of a fragment, the starts are constants, and an axis that is not
    taken as it is must be whole in each instance.
    """
    type_ = tensor_type(whole)
    if (
        all(s == 0 and n == e and d == 1 for s, n, d, e in zip(starts, sizes, steps, type_.shape, strict=True))
        and not drop
    ):
        return whole
    shape = tuple(size for axis, size in enumerate(sizes) if axis not in drop)
    if type_.storage is StorageKind.SMEM:
        assert isinstance(type_.layout, Layout) and type_.layout.strides is not None
        strides = tuple(
            s * d for k, (s, d) in enumerate(zip(type_.layout.strides, steps, strict=True)) if k not in drop
        )
        plain = TensorType(shape, type_.dtype, Layout(shape, strides), StorageKind.SMEM)
        return ctx.bind(f"{whole.name}_part", tir.view_as(plain), (whole, *starts), plain)
    layout = _fragment_part(ctx, at, type_, starts, sizes, steps, drop)
    view = TensorType(shape, type_.dtype, layout, type_.storage)
    return ctx.bind(f"{whole.name}_part", tir.view_as(view), (whole, *starts), view)


def _fragment_part(
    ctx: Lowering,
    at: Expr,
    type_: TensorType,
    starts: Sequence[Scalar],
    sizes: Sequence[ShapeDim],
    steps: Sequence[int],
    drop: Sequence[int],
) -> ShardLayout:
    layout = type_.layout
    assert isinstance(layout, ShardLayout)
    groups = group_modes(layout.shape, type_.shape)
    assert groups is not None  # of fragments
    modes = flat_modes(layout.layout)
    shape: list[ShapeDim] = []
    strides: list[ShapeDim] = []
    moved: dict[int, int] = {}
    for axis, group in enumerate(groups):
        if axis in drop:
            continue
        if starts[axis] == 0 and sizes[axis] == type_.shape[axis] and steps[axis] == 1:
            moved.update({mode: len(shape) + k for k, mode in enumerate(group)})
            shape += [modes[mode][0] for mode in group]
            strides += [modes[mode][1] for mode in group]
            continue
        held = Layout(tuple(modes[m][0] for m in group), tuple(modes[m][1] for m in group))
        step = view_strides(held, [type_.shape[axis]])
        if step is None or any(layout.splitters(mode) for mode in group):
            ctx.refuse(
                at,
                f"axis {axis} of a fragment laid out as {layout} has no constant step in registers",
                remedy="stage it in shared memory first: tf.reshard(x, <shape of the tile>, 'smem')",
            )
        shape.append(sizes[axis])
        strides.append(dim_mul(step[0], steps[axis]))
    attrs = tuple(Split(moved[a.axis]) if isinstance(a, Split) and a.axis in moved else a for a in layout.attrs)
    return ShardLayout(Layout(tuple(shape), tuple(strides)), attrs, layout.mesh)


def along(ctx: Lowering, at: Expr, whole: Var, axis: int, start: Scalar, size: ShapeDim, *, drop: bool = False) -> Var:
    """The view of a tensor that is a window along one axis."""
    shape = tensor_type(whole).shape
    starts = tuple(start if k == axis else 0 for k in range(len(shape)))
    sizes = tuple(size if k == axis else extent for k, extent in enumerate(shape))
    return part(ctx, at, whole, starts, sizes, (1,) * len(shape), (axis,) if drop else ())


def surrounded(ctx: Lowering, tile: Var, before: Sequence[int], after: Sequence[int]) -> Var:
    """A shared tile, or a fragment, with that many zeros before and after it along each axis.

    The copy of a tile is made once; what a loop carries in registers is another one in each iteration.
    """
    if not any((*before, *after)):
        return tile
    type_ = tensor_type(tile)
    shape = tuple(dim_add(dim_add(b, e), a) for b, e, a in zip(before, type_.shape, after, strict=True))
    steps = (1,) * len(shape)
    zero = False if type_.dtype is DType.bool else 0
    if type_.storage is StorageKind.RMEM:
        layout = _fragment_part(ctx, tile, type_, (0,) * len(shape), shape, steps, ())
        wide = ctx.alloc(f"{tile.name}_wide", fresh_type(replace(type_, shape=shape, layout=layout)))
        ctx.emit(tir.Fill(0.0 if type_.dtype.is_float else zero), wide)
        ctx.emit(tir.Copy(), tile, part(ctx, tile, wide, before, type_.shape, steps))
        return wide
    key = ("surrounded", tile, tuple(before), tuple(after))
    known = ctx.placed(key)
    if isinstance(known, Var):
        return known
    with ctx.before_loops(tile):
        wide = ctx.alloc(f"{tile.name}_wide", fresh_type(replace(type_, shape=shape, layout=row_major(shape))))
        ctx.emit(tir.WholeFill(), Constant(zero, TensorType.umat_scalar(type_.dtype)), wide)
        ctx.emit(tir.WholeCopy(), tile, part(ctx, tile, wide, before, type_.shape, steps))
        ctx.remember_placed(key, wide)
    return wide


def is_split(type_: TensorType, axis: int) -> bool:
    """Whether instances hold different parts of an axis of a fragment."""
    if not isinstance(type_.layout, ShardLayout):
        return False
    groups = group_modes(type_.layout.shape, type_.shape)
    assert groups is not None  # of fragments
    return any(type_.layout.splitters(mode) and type_.layout.shape[mode] != 1 for mode in groups[axis])


# ---- global tensors -----------------------------------------------------------------------------------------------


def permuted(ctx: Lowering, window: Window, perm: Sequence[int]) -> Window:
    """The window with its axes in another order: of the whole tensor, whose extents go on bounding it."""
    kept = window.kept
    order = (*(kept[axis] for axis in perm), *window.drop)
    shape = tensor_type(window.tensor).shape
    tensor = global_view(ctx, window.tensor, order, [shape[t] for t in order], (1,) * len(order))
    starts = tuple(window.starts[t] for t in order)
    return Window(tensor, starts, tuple(window.sizes[t] for t in order), tuple(range(len(kept), len(order))))


def flipped(ctx: Lowering, window: Window, axes: Sequence[int]) -> Window:
    """The window backwards along axes, likewise."""
    shape = tensor_type(window.tensor).shape
    back = {window.kept[axis] for axis in axes}
    firsts = tuple(dim_sub(extent, 1) if t in back else 0 for t, extent in enumerate(shape))
    steps = tuple(-1 if t in back else 1 for t in range(len(shape)))
    tensor = global_view(ctx, window.tensor, tuple(range(len(shape))), shape, steps, firsts)
    starts = tuple(
        dim_sub(dim_sub(extent, start), size) if t in back else start
        for t, (extent, start, size) in enumerate(zip(shape, window.starts, window.sizes, strict=True))
    )
    return replace(window, tensor=tensor, starts=starts)


def repeated(ctx: Lowering, window: Window, shape: Sequence[ShapeDim], source: Sequence[int | None]) -> Window:
    """The window under ``shape``, whose axis k is the window's axis ``source[k]``; None where elements repeat.

    Axes of the window that are no source have extent 1.
    """
    own = tensor_type(window.tensor).shape
    taken = [None if axis is None else window.kept[axis] for axis in source]
    rest = [t for t in range(len(own)) if t not in taken]
    order = (*taken, *rest)
    extents = [shape[k] if t is None else own[t] for k, t in enumerate(order)]
    tensor = global_view(ctx, window.tensor, order, extents, tuple(0 if t is None else 1 for t in order))
    starts = tuple(0 if t is None else window.starts[t] for t in order)
    sizes = tuple(shape[k] if t is None else window.sizes[t] for k, t in enumerate(order))
    return Window(tensor, starts, sizes, tuple(range(len(taken), len(order))))


def exact(ctx: Lowering, window: Window) -> Var:
    """What the tensor has of the window, as a tensor of its own."""
    own = tensor_type(window.tensor).shape
    kept = window.kept
    if kept == tuple(range(len(own))) and window.sizes == own and all(s == 0 for s in window.starts):
        return window.tensor
    sizes = [_inside(window.starts[t], window.sizes[t], own[t]) for t in kept]
    return global_view(ctx, window.tensor, kept, sizes, (1,) * len(kept), window.starts)


def factored(ctx: Lowering, tensor: Var, shape: Sequence[ShapeDim]) -> Window | None:
    """A tensor with its axes split into factors, which any strides allow; None for other extents."""
    axes, steps = [], []
    groups = group_modes(tuple(shape), tensor_type(tensor).shape)
    for axis, group in enumerate(groups or ()):
        for k in range(len(group)):
            axes.append(axis)
            steps.append(dim_product(shape[inner] for inner in group[k + 1 :]))
    static = [step for step in steps if isinstance(step, int)]
    if groups is None or len(static) != len(steps) or len(axes) != len(shape):
        return None
    view = global_view(ctx, tensor, axes, shape, static)
    return Window(view, (0,) * len(shape), tuple(shape))


def _inside(start: Scalar, size: ShapeDim, extent: ShapeDim) -> ShapeDim:
    left = dim_sub(extent, start)
    slack = dim_sub(left, size)
    return size if isinstance(slack, int) and slack >= 0 else dim_min(size, left)


def global_view(
    ctx: Lowering,
    tensor: Var,
    axes: Sequence[int | None],
    sizes: Sequence[ShapeDim],
    steps: Sequence[int],
    starts: Sequence[Scalar] | None = None,
) -> Var:
    """Binds a view of a global tensor; see ``tir.GlobalView``."""
    type_ = tensor_type(tensor)
    begin = tuple(starts) if starts is not None else (0,) * type_.rank
    view = TensorType(tuple(sizes), type_.dtype, None, StorageKind.GMEM)
    return ctx.bind(
        f"{tensor.name}_view", tir.GlobalView(tuple(axes), tuple(sizes), tuple(steps)), (tensor, *begin), view
    )
