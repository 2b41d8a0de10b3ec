"""Schedule constraints: where the author says that a value must lie."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import ScheduleError, WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.metadata import IRMetadata, get_metadata, span_of
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.shard.layout import ComposedLayout, Layout, flatten, format_int_tuple
from tilefoundry.ir.shard.mesh import Mesh
from tilefoundry.ir.shard.shard_layout import ShardLayout
from tilefoundry.ir.types import AnyLayout, StorageKind, TensorType, resolve_storage


@dataclass(frozen=True, slots=True)
class ScheduleConstraintMetadata(IRMetadata):
    """What ``y: where(layout=..., mesh=..., storage=...) = value`` asks of whoever places the value.

    The value does not change by it; a compiler that cannot keep to it refuses the program.

    Attributes:
        layout: the layout that the value must have.
        mesh: the mesh whose units must hold it.
        storage: the memory that it must lie in; a name is accepted.

    Raises:
        WrongTypeError, WrongValueError: a field has the wrong type, or the storage no known name.
        ScheduleError: nothing is asked, the layout is over another mesh, or the storage is umat.
    """

    layout: AnyLayout | None = None
    mesh: Mesh | None = None
    storage: StorageKind | None = None

    def __post_init__(self) -> None:
        if self.layout is not None and not isinstance(self.layout, (Layout, ComposedLayout, ShardLayout)):
            raise WrongTypeError(
                f"schedule constraint: layout must be a layout, got {self.layout!r}",
                remedy="write it as in tf.reshard: (4 @ m.x, 64)",
            )
        if self.mesh is not None and not isinstance(self.mesh, Mesh):
            raise WrongTypeError(
                f"schedule constraint: mesh must be a Mesh, got {self.mesh!r}", remedy="give the mesh of an open 'with'"
            )
        object.__setattr__(self, "storage", resolve_storage(self.storage))
        if self.layout is None and self.mesh is None and self.storage is None:
            raise ScheduleError("a schedule constraint asks for nothing", remedy="give layout=, mesh= or storage=")
        if self.storage is StorageKind.UMAT:
            raise ScheduleError("a schedule constraint cannot ask for umat", remedy='name a memory, such as "smem"')
        if self.mesh is not None and isinstance(self.layout, ShardLayout) and self.layout.mesh != self.mesh:
            raise ScheduleError(
                f"a schedule constraint names a mesh of shape {format_int_tuple(self.mesh.shape)} and a layout over "
                f"one of shape {format_int_tuple(self.layout.mesh.shape)}",
                remedy="leave mesh= out: the layout has one",
            )


def check_schedule_constraint(expr: Expr) -> None:
    """Checks that the constraint that an expression carries, if any, can be kept by a value of its type.

    Raises:
        ScheduleError: the value is no tensor, or the layout does not hold as many elements; located by its span.
    """
    record = get_metadata(expr, ScheduleConstraintMetadata)
    if record is None:
        return
    where = span_of(expr.metadata)
    if not isinstance(expr.type, TensorType):
        raise ScheduleError(
            f"a schedule constraint is on a value of type {expr.type}, expected a tensor",
            span=where,
            remedy="constrain its elements one by one",
        )
    if record.layout is None:
        return
    shape = record.layout.layout.shape if isinstance(record.layout, ShardLayout) else record.layout.shape
    if not dim_equal(dim_product(flatten(shape)), dim_product(expr.type.shape)):
        raise ScheduleError(
            f"a schedule constraint asks for a layout of shape {format_int_tuple(shape)}, which does not hold as many "
            f"elements as the value {format_int_tuple(expr.type.shape)}",
            span=where,
            remedy="factor the extents of the value, no others",
        )
