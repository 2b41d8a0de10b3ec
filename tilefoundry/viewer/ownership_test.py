"""Owners and offsets, against formulas written down anew."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from tilefoundry.diagnostics import NotProjectable
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardLayout,
    Split,
    Swizzle,
    Topology,
    canonical_shard_layout,
    make_mesh,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.viewer.layout_picture import bank_of, layout_svg
from tilefoundry.viewer.ownership import Cell, Grid, grid_of

S, B = Split, Broadcast
ROW = make_mesh((6, 32), ("w", "t"))
FRAGMENT = ShardLayout(
    Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)),
    (S(1), S(3)),
    Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("a", "b")),
)
# a bf16 tile of 16 rows and 128 columns as TMA writes it: two blocks of 64 columns, 128 bytes a row, swizzled
SWIZZLED = TensorType(
    (16, 128),
    DType.bf16,
    ComposedLayout(Swizzle(3, 3, 3), 0, Layout((16, (64, 2)), (64, (1, 16 * 64)))),
    StorageKind.SMEM,
)


def cells(grid: Grid) -> list[Cell]:
    return [cell for row in grid.rows for cell in row]


def test_a_row_in_registers() -> None:
    layout = ShardLayout(Layout((1, 6, 32, 8), (0, 0, 0, 1)), (S(1), S(2)), ROW)
    for cell in cells(grid_of(layout, (1, 1536))):
        _, x = cell.coordinate
        warp, lane = x // 256, x % 256 // 8
        assert (cell.owners, cell.offset, cell.position) == ((32 * warp + lane,), x % 8, (warp, lane))


def test_the_same_row_in_memory() -> None:
    layout = ShardLayout(Layout((1, 6, 32, 8), (1536, 256, 8, 1)), (S(1), S(2)), ROW)
    grid = grid_of(layout, (1, 1536))
    assert [cell.offset for cell in cells(grid)] == list(range(64)) and grid.whole == (1, 1536)


def test_the_fragment_of_a_tensor_core() -> None:
    grid = grid_of(FRAGMENT, (16, 16))
    assert len(cells(grid)) == 256
    for cell in cells(grid):
        row, column = cell.coordinate
        upper, a, odd = row // 8, row // 2 % 4, row % 2
        b, second = column // 2, column % 2
        assert cell.owners == (a + 4 * b,)
        assert cell.offset == upper + 2 * a + 8 * odd + 16 * b + 128 * second
    assert sorted(c.offset for c in cells(grid) if c.offset is not None) == list(range(256))
    assert Counter(c.owners for c in cells(grid)) == {(unit,): 8 for unit in range(32)}


def test_a_swizzled_tile() -> None:
    """In bytes: the 16-byte chunk of a row of 128 bytes is exchanged by the number of the row modulo 8."""
    grid = grid_of(SWIZZLED.layout, SWIZZLED.shape)  # type: ignore[arg-type]
    assert grid.whole == (16, 128) and len(cells(grid)) == 16 * 64
    for cell in cells(grid):
        row, column = cell.coordinate
        block, byte = column // 64, column % 64 * 2
        chunk = byte // 16 ^ row % 8
        address = block * 16 * 128 + row * 128 + chunk * 16 + byte % 16
        assert cell.offset is not None
        assert cell.offset * 2 == address and bank_of(cell, 16) == address // 4 % 32
    for column in range(64):
        rows = [bank_of(grid.rows[row][column], 16) for row in range(8)]
        assert len(set(rows)) == 8, "no column meets one bank twice in 8 rows"


def test_the_picture_of_a_swizzled_tile_says_the_same() -> None:
    svg = ET.fromstring(layout_svg(SWIZZLED))
    space = "{http://www.w3.org/2000/svg}"
    shown, colours = {}, {}
    for rect in svg.iter(f"{space}rect"):
        title = rect.find(f"{space}title")
        if title is not None and (match := re.fullmatch(r"element \((\d+), (\d+)\): offset (\d+)", title.text or "")):
            row, column, offset = map(int, match.groups())
            shown[row, column] = offset
            colours.setdefault(rect.attrib["fill"], set()).add(offset * 2 // 4 % 32)
            middle = float(rect.attrib["x"]) + float(rect.attrib["width"]) / 2
            texts = [t for t in svg.iter(f"{space}text") if abs(float(t.attrib["x"]) - middle) < 0.5]
            at = float(rect.attrib["y"])
            assert [t.text for t in texts if at < float(t.attrib["y"]) < at + 22] == [str(offset)]
    assert set(shown) == set(itertools.product(range(16), range(64)))
    assert all(
        offset == row * 64 + ((column // 8) ^ (row % 8)) * 8 + column % 8 for (row, column), offset in shown.items()
    )
    assert len(colours) == 32 and all(len(banks) == 1 for banks in colours.values())


def test_copies_and_summands_have_several_owners() -> None:
    layout = ShardLayout(Layout((4, 2), (0, 1)), (S(0), Partial("sum")), make_mesh((4, 3), ("a", "k")))
    for cell in cells(grid_of(layout)):
        assert cell.owners == tuple(3 * cell.coordinate[0] + k for k in range(3)) and cell.position[1] is None
    assert "the owners along k: P(sum) hold parts of the value" in layout_svg(layout)
    copied = ShardLayout(Layout((4,), (1,)), (B(),), make_mesh((8,), ("t",)))
    assert all(cell.owners == tuple(range(8)) for cell in cells(grid_of(copied)))
    assert ">units 0 to 7<" in layout_svg(copied)


@pytest.mark.parametrize("shape", [(8, 12), (4, 24), (16, 6)])
def test_every_element_has_one_owner_and_every_owner_its_part(shape: tuple[int, ...]) -> None:
    mesh = make_mesh((2, 3), ("x", "y"))
    layout = canonical_shard_layout(shape, mesh, (S(0), S(1)))
    held: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for cell in cells(grid_of(layout, shape)):
        held.setdefault(cell.owners, []).append(cell.coordinate)
    assert set(held) == {(unit,) for unit in range(6)}
    rows, columns = shape[0] // 2, shape[1] // 3
    for (unit,), coordinates in held.items():
        x, y = divmod(unit, 3)
        assert coordinates == [
            (x * rows + i, y * columns + j) for i, j in itertools.product(range(rows), range(columns))
        ]


def test_two_mesh_axes_on_one_mode_follow_each_other() -> None:
    layout = ShardLayout(Layout((12,), (0,)), (S(0), S(0)), make_mesh((3, 4), ("a", "b")))
    assert [cell.position for cell in cells(grid_of(layout))] == [(i // 4, i % 4) for i in range(12)]


def test_plain_layouts_and_scalars() -> None:
    assert [c.offset for c in cells(grid_of(Layout((2, 3), (1, 2))))] == [0, 2, 4, 1, 3, 5]
    assert [c.offset for c in cells(grid_of(Layout((), ())))] == [0]
    assert [c.offset for c in cells(grid_of(ComposedLayout(None, 5, Layout((3,), (2,)))))] == [5, 7, 9]
    assert "<svg" in layout_svg(TensorType((2, 3), DType.f32, None, StorageKind.GMEM))


def test_a_mesh_shows_its_units() -> None:
    part = make_mesh((4, 32), ("w", "l"))[2:4, 0:16]
    assert [c.offset for c in cells(grid_of(part))] == [*range(64, 80), *range(96, 112)]
    assert "unit 97 at (1, 1)" in layout_svg(part)


def test_large_tensors_show_their_first_cells() -> None:
    svg = layout_svg(TensorType((4096, 4096), DType.f32, None, StorageKind.GMEM))
    assert "the first 32 x 64 of 4096 x 4096 cells" in svg and len(svg) < 1_000_000


def test_strides_that_are_not_decided_are_open() -> None:
    layout = ShardLayout(Layout((4, 2)), (S(0),), make_mesh((4,), ("t",)))
    assert {cell.offset for cell in cells(grid_of(layout))} == {None} and ">?<" in layout_svg(layout)


N = DimVar("N", 1, 9)
REFUSED = [
    (lambda: grid_of(Layout((N, 2), (2, 1))), "the layout has the symbolic extent N"),
    (lambda: layout_svg(TensorType((N,), DType.f32, None, StorageKind.GMEM)), "the symbolic extent N"),
    (lambda: grid_of(ShardLayout(Layout((4,), (1,)), (Dynamic(),), make_mesh((4,), ("t",)))), "axis t .* at run time"),
    (lambda: grid_of(FRAGMENT, (3, 85)), "straddles two axes"),
    (lambda: grid_of(ShardLayout(Layout((8,), (1,)), (S(0),), make_mesh((4,)))), "has the extent 8, which is not that"),
    (lambda: grid_of(Layout((4, 2), (2, 1)), (8,)), "is not of the shape"),
]


@pytest.mark.parametrize(("show", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_has_no_picture_is_refused(show: object, words: str) -> None:
    with pytest.raises(NotProjectable, match=words) as refused:
        show()  # type: ignore[operator]
    assert refused.value.remedy
