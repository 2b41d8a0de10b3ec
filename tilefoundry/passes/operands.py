"""How the operands of matrix products are held, so that tensor cores read them as they lie."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.shard import ComposedLayout, Layout, ShardLayout, Split, Swizzle, flat_modes, group_modes
from tilefoundry.ir.types import DType, TensorType

_HALVES = (DType.f16, DType.bf16)
_ATOM_ROWS = 8


def operand_tile(type_: TensorType) -> TensorType | None:
    """A shared tile that products alone read, in the form of wgmma and ldmatrix; None for tiles that have no such form.

    16-bit matrices lie in blocks of W columns (64, 32 or 16: what divides them), each with its rows one after another
    and the 16-byte chunks of a row exchanged by the row's number: ``Swizzle o (R, (W, C / W)):(W, (1, R W))``. No
    column meets one bank twice, and nothing is padded.
    """
    if type_.dtype not in _HALVES or type_.rank != 2:
        return None
    rows, columns = type_.shape
    if not isinstance(rows, int) or not isinstance(columns, int) or rows % _ATOM_ROWS:
        return None
    for bits in (3, 2, 1):
        width = 8 << bits
        if columns and columns % width == 0:
            blocks = Layout((rows, (width, columns // width)), (width, (1, rows * width)))
            return replace(type_, layout=ComposedLayout(Swizzle(bits, 3, 3), 0, blocks))
    return None


def on_tensor_cores(type_: TensorType) -> bool:
    """Whether tensor cores multiply elements of this type."""
    return type_.dtype in _HALVES


def transposed(layout: Layout | ComposedLayout, perm: tuple[int, ...]) -> Layout | ComposedLayout:
    """The layout of the same memory with its axes permuted."""
    if isinstance(layout, ComposedLayout):
        assert isinstance(layout.outer, Layout)  # shared tiles have an outer layout
        outer = transposed(layout.outer, perm)
        assert isinstance(outer, Layout)
        return replace(layout, outer=outer)
    assert layout.strides is not None  # of shared tiles
    return Layout(tuple(layout.shape[axis] for axis in perm), tuple(layout.strides[axis] for axis in perm))


def is_left_operand(fragment: TensorType, acc: TensorType) -> bool:
    """Whether tensor cores take ``fragment`` (M, K) as it lies in registers, to accumulate in ``acc`` (M, N).

    Both are then distributed as the accumulator of m16n8: rows (..., 2, 8 @ g), the same for both, and columns
    (n / 8, 4 @ t, 2), where lane 4 g + t is at coordinates g and t.
    """
    left, right = fragment.layout, acc.layout
    if fragment.dtype not in _HALVES or acc.dtype is not DType.f32 or fragment.rank != 2:
        return False
    if not isinstance(left, ShardLayout) or not isinstance(right, ShardLayout) or left.mesh != right.mesh:
        return False
    depth = fragment.shape[1]
    if not isinstance(depth, int) or depth % 16:
        return False
    rows, columns = _modes(left, fragment)
    acc_rows, acc_columns = _modes(right, acc)
    if rows != acc_rows or rows[-2:] != [(2, None), (8, 4)]:
        return False
    return columns[1:] == acc_columns[1:] == [(4, 1), (2, None)] and columns[0][1] is acc_columns[0][1] is None


def _modes(layout: ShardLayout, type_: TensorType) -> list[list[tuple[object, object]]]:
    """For each axis, its modes: the extent, and the distance of neighbouring threads where the mode is split."""
    groups = group_modes(layout.shape, type_.shape)
    mesh = layout.mesh.layout
    if groups is None or not isinstance(mesh, Layout):
        return [[], []]
    strides = [stride for _, stride in flat_modes(mesh)]
    split = {attr.axis: strides[axis] for axis, attr in enumerate(layout.attrs) if isinstance(attr, Split)}
    return [[(layout.shape[mode], split.get(mode)) for mode in modes] for modes in groups]
