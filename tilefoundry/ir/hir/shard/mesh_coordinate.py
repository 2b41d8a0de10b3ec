"""MeshCoordinate: where the running unit stands along a mesh axis."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import Op, TypeContext, register_op
from tilefoundry.ir.shard import MeshAxis
from tilefoundry.ir.types import INDEX_TYPE, TensorType


@register_op(category="shard", name="mesh_coordinate")
@dataclass(frozen=True, slots=True)
class MeshCoordinate(Op):
    """The unit's coordinate along `axis`, in [0, extent): an index scalar that differs from unit to unit.

    Shapes: -> ()

    Authors write ``m.w`` where a value is expected.
    """

    axis: MeshAxis

    def __post_init__(self) -> None:
        if not isinstance(self.axis, MeshAxis):
            raise WrongTypeError(
                f"mesh_coordinate: axis must be a MeshAxis, got {self.axis!r}", remedy="write MeshAxis(mesh, 0)"
            )

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """An index scalar (i64)."""
        return INDEX_TYPE
