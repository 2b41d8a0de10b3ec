"""What one unit of a topology level holds of a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import Dynamic, ShardLayout, Topology, axis_levels, group_modes
from tilefoundry.ir.types.tensor import TensorType


def local_type_of(type_: Type, *, level: str, topologies: Sequence[Topology]) -> Type:
    """The type of what one unit of `level` holds: a plain tensor (or a tuple of them) of the local logical shape.

    A Split over mesh axes of that level, or of a coarser one, divides its axis. A Split over a finer level does not,
    for the units below share what this unit holds; nor do Broadcast and Partial.

    Args:
        topologies: the levels in force, outermost first.

    Raises:
        WrongValueError: there is no such level, an axis does not divide or is symbolic, a mode of the layout straddles
            two logical axes, or the placement is Dynamic.
    """
    if not isinstance(topologies, (tuple, list)) or not all(isinstance(t, Topology) for t in topologies):
        raise WrongTypeError(
            f"local_type_of: topologies must be a tuple of Topology, got {topologies!r}",
            remedy='write (Topology("cta", 4), Topology("thread", 128))',
        )
    if not isinstance(type_, Type):
        raise WrongTypeError(
            f"local_type_of: expected a type, got {type_!r}", remedy="give the type of a value: x.type"
        )
    names = [t.name for t in topologies]
    if level not in names:
        raise WrongValueError(f"local_type_of: no level '{level}'", remedy=f"use one of {', '.join(names) or 'none'}")
    if isinstance(type_, TupleType):
        return TupleType(tuple(local_type_of(f, level=level, topologies=topologies) for f in type_.fields))
    if not isinstance(type_, TensorType) or not isinstance(type_.layout, ShardLayout):
        return type_
    local = _local_modes(type_.layout, names, level)
    groups = group_modes(type_.layout.shape, type_.shape)
    if groups is None:
        raise WrongValueError(
            f"local_type_of: the modes {type_.layout.shape} do not follow the axes of {type_}",
            remedy="use a layout whose modes factor each axis",
        )
    shape = tuple(dim_product(local[k] for k in group) for group in groups)
    return replace(type_, shape=shape, layout=None)


def _local_modes(sl: ShardLayout, names: list[str], level: str) -> list[Dim]:
    missing = [t.name for t in sl.mesh.topologies if t.name not in names]
    if missing:
        raise WrongValueError(
            f"local_type_of: the mesh has the level '{missing[0]}', which is not among the levels {', '.join(names)}",
            remedy="give all levels, outermost first",
        )
    whole_level = len(sl.mesh.topologies) == 1  # also of a slice, whose axes do not multiply to the level
    numbers = (0,) * sl.mesh.rank if whole_level else axis_levels(sl.mesh)
    reached = names.index(level)
    dividing = [names.index(sl.mesh.topologies[number].name) <= reached for number in numbers]
    if any(isinstance(a, Dynamic) and d for a, d in zip(sl.attrs, dividing, strict=True)):
        raise WrongValueError("local_type_of: a Dynamic placement has no local type", remedy="reshard it first")
    modes: list[Dim] = []
    for mode, extent in enumerate(sl.shape):
        units = dim_product(sl.mesh.shape[m] for m in sl.splitters(mode) if dividing[m])
        modes.append(_divided(mode, extent, units))
    return modes


def _divided(mode: int, extent: Dim, units: Dim) -> Dim:
    if units == 1:
        return extent
    if dim_equal(extent, units):
        return 1
    if not (isinstance(extent, int) and isinstance(units, int)):
        raise WrongValueError(
            f"local_type_of: mode {mode} of extent {format_dim(extent)} is split over {format_dim(units)} units",
            remedy="bind the axis before local projection",
        )
    if extent % units:
        raise WrongValueError(
            f"local_type_of: mode {mode} of extent {extent} does not divide into {units} units",
            remedy=f"write the axis as (ceildiv({extent}, {units}), {units})",
        )
    return extent // units
