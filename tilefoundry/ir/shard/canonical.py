"""Canonical shard layouts: their construction, their local shapes, and the strides that a Reshard decides."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod, dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard.attrs import ShardAttr, Split
from tilefoundry.ir.shard.layout import Layout, c_order_strides, check_shape, format_int_tuple, try_c_order_strides
from tilefoundry.ir.shard.mesh import Mesh
from tilefoundry.ir.shard.shard_layout import ShardLayout


def factor_extent(extent: Dim, units: Sequence[Dim]) -> tuple[Dim, ...]:
    """An extent split over mesh axes: their extents, then the residual when it is not 1.

    Raises:
        WrongValueError: the units do not divide the extent, or that cannot be proven.
    """
    count = dim_product(units)
    if dim_equal(extent, count):
        return tuple(units)
    left = dim_mod(extent, count)
    if left != 0:
        what = f"extent {format_dim(extent)}"
        into = f"into {format_dim(count)} units"
        static = isinstance(left, int)
        raise WrongValueError(
            f"{what} does not divide {into}" if static else f"cannot prove that {what} divides {into}",
            remedy="pad the extent, or use a mesh axis that divides it",
        )
    return (*units, dim_floordiv(extent, count))


def canonical_shard_layout(shape: Sequence[Dim], mesh: Mesh, attrs: Sequence[ShardAttr]) -> ShardLayout:
    """The canonical layout of a tensor of this logical shape, where ``Split(i)`` means *logical* axis i.

    Each split axis becomes the extents of its mesh axes in mesh order, then a residual if it is not 1. A symbolic axis
    that one mesh axis splits, and that is not known to divide, stays whole: its local extent is open until it is bound.
    Strides are row-major over static modes; with a symbolic one they are None, "not decided".

    Raises:
        WrongValueError: a Split names no axis, or an axis does not divide.
    """
    shape = check_shape("canonical_shard_layout", shape)
    if not isinstance(mesh, Mesh):
        raise WrongTypeError(
            f"canonical_shard_layout: mesh must be a Mesh, got {mesh!r}", remedy="make one: make_mesh((4, 32))"
        )
    if not isinstance(attrs, (tuple, list)) or len(attrs) != mesh.rank:
        raise WrongTypeError(
            f"canonical_shard_layout: attrs must be a tuple, one for each of the {mesh.rank} mesh axes, got {attrs!r}",
            remedy="write (Split(0), Broadcast())",
        )
    modes: list[Dim] = []
    remapped = list(attrs)
    for axis, extent in enumerate(shape):
        over = [m for m, a in enumerate(attrs) if isinstance(a, Split) and a.axis == axis]
        units = [mesh.shape[m] for m in over]
        whole = len(over) == 1 and not isinstance(dim_mod(extent, units[0]), int)
        for position, m in enumerate(over):
            remapped[m] = Split(len(modes) + position)
        modes.extend((extent,) if whole or not over else factor_extent(extent, units))
    for attr in attrs:
        if isinstance(attr, Split) and attr.axis >= len(shape):
            raise WrongValueError(
                f"{attr} names no axis of the shape {format_int_tuple(tuple(shape))}",
                remedy="split an axis that the tensor has",
            )
    return ShardLayout(Layout(tuple(modes), try_c_order_strides(modes)), tuple(remapped), mesh)


def shard_layout_local_shape(sl: ShardLayout, require_static: bool = True) -> tuple[Dim, ...]:
    """What one unit holds: each mode divided by the extents of the mesh axes that split it.

    Args:
        require_static: refuse symbolic modes that no axis splits; otherwise they stay symbolic.

    Raises:
        WrongValueError: a mode does not divide, or is symbolic where that is refused.
    """
    if not isinstance(sl, ShardLayout):
        raise WrongTypeError(
            f"shard_layout_local_shape: expected a ShardLayout, got {sl!r}",
            remedy="make one: canonical_shard_layout(shape, mesh, attrs)",
        )
    local: list[Dim] = []
    for mode, extent in enumerate(sl.shape):
        units = dim_product(sl.mesh.shape[m] for m in sl.splitters(mode))
        if dim_equal(extent, units):
            local.append(1)
        elif units == 1:
            local.append(extent)
        elif isinstance(extent, int) and isinstance(units, int):
            if extent % units:
                raise WrongValueError(
                    f"mode {mode} of extent {extent} does not divide into {units} units",
                    remedy="pad the extent, or split it over a mesh axis that divides it",
                )
            local.append(extent // units)
        else:
            raise WrongValueError(
                f"mode {mode} of extent {format_dim(extent)} is split over {format_dim(units)} units",
                remedy="bind symbolic dimensions",
            )
        if require_static and not isinstance(local[-1], int):
            raise WrongValueError(
                f"mode {mode} of extent {format_dim(extent)} is not static after sharding",
                remedy="bind the DimVar, or split another axis",
            )
    return tuple(local)


def per_unit_strides(sl: ShardLayout) -> tuple[Dim, ...]:
    """Strides for units that hold their parts apart: row-major over the local shape, 0 on split and size-1 modes."""
    local = shard_layout_local_shape(sl, require_static=False)
    strides = c_order_strides(local)
    return tuple(0 if sl.splitters(k) or local[k] == 1 else strides[k] for k in range(len(local)))


def shared_strides(sl: ShardLayout) -> tuple[Dim, ...]:
    """Strides for units that share one buffer: row-major over the canonical shape."""
    return c_order_strides(sl.shape)


def is_per_unit(sl: ShardLayout) -> bool:
    """Whether each unit holds its part apart: the stride of every split mode is 0."""
    strides = sl.layout.strides
    return strides is not None and all(strides[a.axis] == 0 for a in sl.attrs if isinstance(a, Split))


def with_strides(sl: ShardLayout, strides: Sequence[Dim]) -> ShardLayout:
    """The same layout with other strides."""
    return ShardLayout(Layout(sl.layout.shape, tuple(strides)), sl.attrs, sl.mesh)
