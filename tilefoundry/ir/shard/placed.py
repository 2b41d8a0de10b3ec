"""What ``@`` makes of a mesh axis: ``extent @ axis`` in a shape, and ``axis @ P("sum")`` among the value states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilefoundry.ir.dims.ops import Dim
    from tilefoundry.ir.shard.mesh import MeshAxis


@dataclass(frozen=True, slots=True)
class Placed:
    """``extent @ axis`` or ``extent @ (axis, axis)``: an extent spread over mesh axes."""

    extent: Dim
    axes: tuple[MeshAxis, ...]


@dataclass(frozen=True, slots=True)
class ValueState:
    """``axis @ P("sum")``: the values along a mesh axis are partial."""

    axis: MeshAxis
    state: object
