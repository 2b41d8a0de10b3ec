"""The picture of a layout: a grid of elements, coloured by owner, with the offset of each in its cell.

Where a layout says nothing about owners, tiles in shared memory are coloured by bank and others by offset.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, ShardLayout, row_major
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.viewer.ownership import Cell, Grid, Pictured, grid_of, partial_axes
from tilefoundry.viewer.svg import CHARACTER, LINE, Svg

_BANKS, _BANK_BYTES = 32, 4  # of shared memory
_MOST_KEYS = 32  # owners that the key below a picture names


def layout_svg(subject: Pictured | TensorType) -> str:
    """A layout, a mesh, or what a tensor type holds, as an ``<svg>`` element.

    The last axis runs to the right; at most 32 rows and 64 columns are shown. Each cell has the offset of its element
    in the storage of its owner (of a mesh, the id of the unit), and says its coordinate and its owners when the pointer
    rests on it.

    Raises:
        NotProjectable: an extent is not known, or the owner of an axis is known at run time only.
    """
    layout, shape = (subject, None) if not isinstance(subject, TensorType) else (_layout_of(subject), subject.shape)
    grid = grid_of(layout, shape)
    picture = Svg()
    picture.text(0, LINE, str(subject) if not isinstance(subject, Mesh) else mesh_text(subject), bold=True)
    top = LINE + 10.0
    for note in _notes(layout, grid):
        picture.text(0, top + 8, note)
        top += LINE
    colour, key = _colours(layout, subject, grid)
    _cells(picture, grid, layout, colour, top + 4)
    y = picture.height + LINE
    for name, fill in key:
        picture.rect(0, y - 11, 12, 12, fill)
        picture.text(18, y, name)
        y += LINE
    return picture.markup(f"layout {layout}")


def mesh_text(mesh: Mesh) -> str:
    """A mesh on one line: its levels, the names and extents of its axes, the steps between units."""
    levels = " ".join(f"{level.name} {level.size}" for level in mesh.topologies)
    names = mesh.names or tuple(map(str, range(mesh.rank)))
    axes = ", ".join(f"{name} {extent}" for name, extent in zip(names, mesh.shape, strict=True))
    return f"Mesh of {levels}: {axes}; {mesh.layout}"


def _layout_of(type_: TensorType) -> Layout | ComposedLayout | ShardLayout:
    layout = type_.layout
    if layout is None:
        return row_major(type_.shape)
    assert isinstance(layout, (Layout, ComposedLayout, ShardLayout))
    return layout


def _notes(layout: Pictured, grid: Grid) -> Iterable[str]:
    shown = (len(grid.rows), len(grid.rows[0]) if grid.rows else 0)
    if shown != grid.whole:
        yield f"the first {shown[0]} x {shown[1]} of {grid.whole[0]} x {grid.whole[1]} cells"
    if isinstance(layout, ShardLayout):
        for axis in partial_axes(layout):
            yield f"the owners along {axis} hold parts of the value"


def _colours(
    layout: Pictured, subject: Pictured | TensorType, grid: Grid
) -> tuple[Callable[[Cell], str], list[tuple[str, str]]]:
    """The colour of a cell, and what colours mean."""
    if isinstance(layout, ShardLayout):
        owners = list(dict.fromkeys(cell.owners for row in grid.rows for cell in row))
        colours = {group: _hue(number) for number, group in enumerate(owners)}
        key = [(f"{_units(group)}", colours[group]) for group in owners[:_MOST_KEYS]]
        if len(owners) > _MOST_KEYS:
            key.append((f"and {len(owners) - _MOST_KEYS} more", "#fff"))
        return lambda cell: colours[cell.owners], key
    if isinstance(subject, TensorType) and subject.storage is StorageKind.SMEM:
        bits = subject.dtype.storage_bits
        return lambda cell: _hue(bank_of(cell, bits) or 0), [("colours are the banks of shared memory", "#fff")]
    most = max((cell.offset or 0 for row in grid.rows for cell in row), default=0)
    return lambda cell: f"hsl(210, 60%, {95 - 40 * (cell.offset or 0) / max(most, 1):.0f}%)", []


def bank_of(cell: Cell, bits: int) -> int | None:
    """The bank of shared memory that an element of so many bits lies in."""
    return None if cell.offset is None else cell.offset * bits // 8 // _BANK_BYTES % _BANKS


def _cells(picture: Svg, grid: Grid, layout: Pictured, colour: Callable[[Cell], str], top: float) -> None:
    texts = [[_written(cell) for cell in row] for row in grid.rows]
    width = max((CHARACTER * len(t) + 8 for row in texts for t in row), default=20.0)
    heads = ["".join(f"{c}," for c in row[0].coordinate[:-1])[:-1] if row else "" for row in grid.rows]
    left = max((CHARACTER * len(head) + 6 for head in heads), default=0.0)
    for column, cell in enumerate(grid.rows[0] if grid.rows else ()):
        text = str(cell.coordinate[-1]) if cell.coordinate else ""
        picture.text(left + (column + 0.5) * width, top + 10, text, anchor="middle", size=10)
    top += LINE
    for number, (row, head) in enumerate(zip(grid.rows, heads, strict=True)):
        y = top + number * (LINE + 6)
        picture.text(left - 4, y + LINE, head, anchor="end", size=10)
        for column, cell in enumerate(row):
            x = left + column * width
            picture.rect(x, y, width, LINE + 6, colour(cell), _tip(cell, layout))
            picture.text(x + width / 2, y + LINE, texts[number][column], anchor="middle")


def _written(cell: Cell) -> str:
    return "?" if cell.offset is None else str(cell.offset)


def _tip(cell: Cell, layout: Pictured) -> str:
    place = f"element {cell.coordinate}".replace(",)", ")")
    if isinstance(layout, Mesh):
        return f"unit {_written(cell)} at {cell.coordinate}"
    if isinstance(layout, ShardLayout):
        names = layout.mesh.names or tuple(f"axis {n}" for n in range(layout.mesh.rank))
        at = ", ".join(f"{n}={'all' if p is None else p}" for n, p in zip(names, cell.position, strict=True))
        return f"{place}: offset {_written(cell)} of {_units(cell.owners)} ({at})"
    return f"{place}: offset {_written(cell)}"


def _units(owners: tuple[int, ...]) -> str:
    if len(owners) == 1:
        return f"unit {owners[0]}"
    if len(owners) > 2 and len(steps := {b - a for a, b in itertools.pairwise(owners)}) == 1:
        step = steps.pop()
        return f"units {owners[0]} to {owners[-1]}" + (f" by {step}" if step != 1 else "")
    return "units " + ", ".join(map(str, owners[:8])) + (" ..." if len(owners) > 8 else "")


def _hue(number: int) -> str:
    """Colours of which neighbours are far apart (steps of the golden angle)."""
    return f"hsl({number * 137.508 % 360:.0f}, 70%, {80 - 8 * (number // 12 % 3)}%)"
