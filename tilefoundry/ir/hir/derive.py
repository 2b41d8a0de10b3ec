"""Where a result lies, derived from where the operands lie and how the op walks them.

An op iterates over *dimensions* (numbered by ints). A relation says of each axis of each operand and of the result
which dimension it is. The modes of a shard layout are grouped by axis, so each dimension comes with a factorisation and
the mesh axes that split it; operands must agree on it. A dimension that reaches the result stays split there; one that
is reduced leaves its mesh axes Broadcast (the op completes the reduction) or Partial (it does not).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import fresh
from tilefoundry.ir.hir.modes import Mode, axis_name, coalesced, describe_modes, is_split, modes_of
from tilefoundry.ir.hir.relation import AxisMap, Relation, dimension_of
from tilefoundry.ir.shard import (
    Broadcast,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardAttr,
    ShardLayout,
    Split,
    format_int_tuple,
)
from tilefoundry.ir.types import StorageKind, TensorType

PartialRule = Callable[[Sequence[ShardAttr]], Partial | None]


def no_partial(states: Sequence[ShardAttr]) -> Partial | None:
    """The rule of an op that no Partial passes through."""
    return None


def derive_output_shard_layout(
    input_types: Sequence[TensorType],
    relation: Relation,
    out_shape: Sequence[Dim],
    *,
    partial_reduction_dims: Collection[int] = (),
    complete_reduction_dims: Collection[int] = (),
    fresh_strides: StorageKind | None = None,
    partial_rule: PartialRule = no_partial,
    alike: bool = False,
) -> ShardLayout | None:
    """The placement of a result, or None where no operand has one.

    Args:
        out_shape: the extents of the result; an axis that no dimension places has its extent from here.
        partial_reduction_dims: dimensions that the op sums up within each unit only: their mesh axes become
            Partial("sum").
        complete_reduction_dims: dimensions that the op reduces across units: their mesh axes become Broadcast.
        fresh_strides: the storage of the result, whose strides it gets; None leaves them open.
        partial_rule: from the attributes that the operands have on one mesh axis, at least one of them Partial, to the
            result's Partial, or None to refuse. Operands without shard layout count as Broadcast.
        alike: refuses a replicated operand beside a split one as well, as an op must whose result lies as one of its
            operands does.

    Raises:
        WrongValueError: operands are placed over different meshes or differently along one dimension; a mesh axis would
            split two axes; a placement is Dynamic, or straddles axes; a Partial cannot pass; a split axis is read
            through a map that is no dimension; a split dimension neither reaches the result nor is reduced.
    """
    operands = [
        _Operand(relation.name_of(k), t, maps)
        for k, (t, maps) in enumerate(zip(input_types, relation.inputs, strict=True))
    ]
    mesh = _one_mesh(operands)
    if mesh is None:
        return None
    attrs = _Attributes(mesh)
    reached = [dimension_of(axis) for axis in relation.output]
    dimensions = _dimensions(operands, mesh, () if alike else reached)
    shape: list[Dim] = []
    for dimension, extent in zip(reached, out_shape, strict=True):
        modes = dimensions.get(dimension, ()) if dimension is not None else ()
        for mode in modes or (Mode(extent),):
            for axis in mode.axes:
                attrs.claim(axis, Split(len(shape)))
            shape.append(mode.extent)
    for dimension, modes in dimensions.items():
        if dimension not in reached:
            for axis in (a for mode in modes for a in mode.axes):
                attrs.claim(axis, _reduced(mesh, axis, dimension, partial_reduction_dims, complete_reduction_dims))
    for axis, passed in _partials(operands, mesh, partial_rule):
        attrs.claim(axis, passed)
    layout = ShardLayout(Layout(tuple(shape)), attrs.all(), mesh)
    return layout if fresh_strides is None else fresh.fresh_strides(layout, fresh_strides)


def known_placement(name: str, t: TensorType) -> None:
    """Refuses an operand whose placement is Dynamic. Raises WrongValueError."""
    if isinstance(t.layout, ShardLayout) and any(isinstance(attr, Dynamic) for attr in t.layout.attrs):
        raise WrongValueError(
            f"operand '{name}' has a Dynamic placement", remedy="tf.reshard it to a known placement first"
        )


@dataclass(frozen=True, slots=True)
class _Operand:
    name: str
    type: TensorType
    maps: tuple[AxisMap, ...]

    def attr(self, axis: int) -> ShardAttr:
        """What a mesh axis does to it; without a placement it is replicated."""
        return self.type.layout.attrs[axis] if isinstance(self.type.layout, ShardLayout) else Broadcast()

    def modes(self) -> tuple[tuple[Mode, ...], ...]:
        """The modes of each axis."""
        layout = self.type.layout
        if not isinstance(layout, ShardLayout):
            return tuple((Mode(extent),) for extent in self.type.shape)
        known_placement(self.name, self.type)
        groups = modes_of(layout, self.type.shape)
        if groups is None:
            raise WrongValueError(
                f"modes {format_int_tuple(layout.layout.shape)} of operand '{self.name}' straddle its axes "
                f"{format_int_tuple(self.type.shape)}",
                remedy="tf.reshard it, each axis factored on its own",
            )
        return groups


class _Attributes:
    """What each mesh axis does to the result; each is decided once."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._decided: dict[int, ShardAttr] = {}

    def claim(self, axis: int, attr: ShardAttr) -> None:
        """Decides a mesh axis, for the first and only time."""
        if axis in self._decided:
            raise WrongValueError(
                f"mesh axis '{axis_name(self._mesh, axis)}' splits two axes of the operation",
                remedy="tf.reshard an operand, so that the mesh axis splits one of them",
            )
        self._decided[axis] = attr

    def all(self) -> tuple[ShardAttr, ...]:
        """One for each mesh axis; the result is replicated along those that nothing decided."""
        return tuple(self._decided.get(axis, Broadcast()) for axis in range(self._mesh.rank))


def _one_mesh(operands: Sequence[_Operand]) -> Mesh | None:
    found: tuple[str, Mesh] | None = None
    for op in operands:
        if isinstance(op.type.layout, ShardLayout):
            found = found or (op.name, op.type.layout.mesh)
            if op.type.layout.mesh != found[1]:
                raise WrongValueError(
                    f"operands '{found[0]}' and '{op.name}' are spread over different meshes",
                    remedy="tf.reshard one of them over the mesh of the other",
                )
    return found[1] if found else None


def _dimensions(
    operands: Sequence[_Operand], mesh: Mesh, surviving: Collection[int | None]
) -> dict[int, tuple[Mode, ...]]:
    """The factorisation of each dimension, on which all operands that have it agree.

    An operand that nothing splits along a dimension holds all of it on every unit: along a surviving one it contributes
    nothing. Parts of a reduced dimension must lie alike, or units would reduce other elements than they should.
    """
    found: dict[int, tuple[str, tuple[Mode, ...]]] = {}
    for op in operands:
        for k, (axis, modes) in enumerate(zip(op.maps, op.modes(), strict=True)):
            dimension = dimension_of(axis)
            if dimension is None:
                _whole(op.name, k, modes, mesh)
                continue
            name, known = found.setdefault(dimension, (op.name, modes))
            if coalesced(known) == coalesced(modes):
                longer = len(modes) > len(known)
            elif dimension in surviving and not (is_split(known) and is_split(modes)):
                longer = is_split(modes)
            else:
                raise WrongValueError(
                    f"operands '{name}' and '{op.name}' are placed differently along one axis: "
                    f"{describe_modes(known, mesh)} against {describe_modes(modes, mesh)}",
                    remedy=f"tf.reshard '{op.name}' to the placement of '{name}'",
                )
            if longer:
                found[dimension] = (op.name, modes)
    return {dimension: modes for dimension, (_, modes) in found.items()}


def _whole(name: str, axis: int, modes: Sequence[Mode], mesh: Mesh) -> None:
    """Refuses a split of an axis that is no dimension: a unit would need elements that others hold (a halo)."""
    split = [a for mode in modes if mode.extent != 1 for a in mode.axes]
    if split:
        raise WrongValueError(
            f"axis {axis} of '{name}' is split along mesh axis '{axis_name(mesh, split[0])}', and each unit "
            "needs elements of it that others hold",
            remedy="tf.reshard it, so that each unit holds the whole axis",
        )


def _reduced(
    mesh: Mesh, axis: int, dimension: int, partial: Collection[int], complete: Collection[int]
) -> Partial | Broadcast:
    if (dimension in partial) == (dimension in complete):
        raise WrongValueError(
            f"mesh axis '{axis_name(mesh, axis)}' splits dimension {dimension} of the operation, which neither reaches "
            "the result nor is reduced in one way",
            remedy="name the dimension as reduced, partially or completely",
        )
    return Partial("sum") if dimension in partial else Broadcast()


def _partials(operands: Sequence[_Operand], mesh: Mesh, rule: PartialRule) -> Iterator[tuple[int, Partial]]:
    """The mesh axes along which operands are Partial, and what passes."""
    for axis in range(mesh.rank):
        states = [op.attr(axis) for op in operands]
        held = [state for state in states if isinstance(state, Partial)]
        if held:
            passed = rule(states)
            if passed is None:
                raise WrongValueError(
                    f"the value is {held[0]} along mesh axis '{axis_name(mesh, axis)}' and cannot pass through in that "
                    "state",
                    remedy="complete it first by an explicit tf.reshard",
                )
            yield axis, passed
