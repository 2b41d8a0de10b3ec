"""Parts of tensors as C++ text: views of global tensors, single elements, places in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilefoundry.codegen.types import int_text
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.shard import ShardLayout, flat_modes, group_modes
from tilefoundry.ir.types import StorageKind, TensorType

if TYPE_CHECKING:
    from tilefoundry.codegen.body import Body

Args = Sequence[Expr | int]


def part_text(body: Body, op: tir.ValueOp, args: Args) -> str:
    """The value of an op that takes a part of a tensor."""
    match op:
        case tir.GlobalView(axes, sizes, steps):
            source, *starts = args
            assert isinstance(source, Expr)
            view = ", ".join(str(-1 if axis is None else axis) for axis in axes)
            kinds = f"Axes<{view}>, Steps<{', '.join(map(str, steps))}>"
            begin = f"make_coord({', '.join(_index_text(body, s) for s in starts)})"
            return f"global_view<{kinds}>({body.tensor(source)}, {begin}, {shape_text(body, sizes)})"
        case tir.Element():
            source, *coordinates = args
            assert isinstance(source, Expr) and isinstance(source.type, TensorType)
            if source.type.storage is StorageKind.RMEM:
                return f"only_element({body.tensor(source)})"
            kind = "shared" if source.type.storage is StorageKind.SMEM else "global"
            at = ", ".join(body.scalar(c) for c in coordinates)
            return f"{kind}_element({body.tensor(source)}, make_coord({at}))"
        case tir.CheckWindow(axis):
            start, size, extent = (body.scalar(arg) for arg in args)
            return f"checked_start({start}, {size}, {axis}, {extent})"
    raise CompileError(f"a {type(op).__name__} cannot be bound")


def shape_text(body: Body, extents: Sequence[Dim]) -> str:
    """Extents as a CuTe shape, static where they are numbers."""
    return f"make_shape({', '.join(_index_text(body, e) for e in extents)})"


def _index_text(body: Body, index: Dim) -> str:
    return f"{int_text(index)}{{}}" if isinstance(index, int) else body.scalar(index)


def register_offset(fragment: TensorType, at: Args) -> int:
    """The number of elements from the first one that an instance holds to the one at a constant coordinate.

    Axes along which the coordinate is not 0 are whole in each instance.
    """
    layout = fragment.layout
    assert isinstance(layout, ShardLayout)
    groups = group_modes(layout.shape, fragment.shape)
    assert groups is not None  # of fragments
    modes = flat_modes(layout.layout)
    offset = 0
    for coordinate, group in zip(at, groups, strict=True):
        index = coordinate.value if isinstance(coordinate, Constant) else coordinate
        if not isinstance(index, int):
            raise CompileError(f"registers have constant coordinates, got {coordinate}")
        for mode in reversed(group):
            extent, stride = modes[mode]
            assert isinstance(extent, int) and isinstance(stride, int)  # fragments are static
            offset += index % extent * stride
            index //= extent
    return offset
