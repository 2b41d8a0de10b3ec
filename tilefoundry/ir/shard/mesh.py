"""Topologies and meshes: the units that run a program, and names for their coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.diagnostics import LookupNameError, WrongTypeError, WrongValueError
from tilefoundry.ir.dims.arith import dim_mul, dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal, normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.shard.layout import (
    ComposedLayout,
    Layout,
    c_order_strides,
    check_shape,
    flat_modes,
    flatten,
    format_int_tuple,
    is_injective,
    size,
)
from tilefoundry.ir.shard.placed import Placed, ValueState


@dataclass(frozen=True, slots=True)
class Topology:
    """A level of the machine and how many units of it one unit above holds. A symbolic size is launch-provided.

    Raises:
        WrongValueError: the size is missing.
        WrongTypeError: the size is not an extent.
    """

    name: str
    size: Dim

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise WrongTypeError(
                f"Topology: name must be a non-empty string, got {self.name!r}", remedy='write Topology("cta", 64)'
            )
        if self.size is None:
            raise WrongValueError(
                f"Topology '{self.name}': extent must be explicit",
                remedy="give an int, or a DimVar for a launch-provided level",
            )
        if not is_dim_operand(self.size):
            raise WrongTypeError(
                f"Topology '{self.name}': size must be an int or a dim, got {self.size!r}",
                remedy='write Topology("cta", 64), or a DimVar for a launch-provided level',
            )
        object.__setattr__(self, "size", normalize_dim(self.size))


@dataclass(frozen=True, slots=True)
class Mesh:
    """Coordinates over the units of some topology levels.

    Attributes:
        topologies: the levels, outermost first.
        layout: from a mesh coordinate to the linear id of a unit; ids of the last level are contiguous.
        names: of the axes, or empty.

    Raises:
        WrongTypeError, WrongValueError: a field is malformed; the layout gives one id to two coordinates.
    """

    topologies: tuple[Topology, ...]
    layout: Layout | ComposedLayout
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.topologies, tuple) or not all(isinstance(t, Topology) for t in self.topologies):
            raise WrongTypeError(
                f"Mesh: topologies must be a tuple of Topology, got {self.topologies!r}",
                remedy='write (Topology("thread", 128),); names of declared levels are for "with Mesh" in a function',
            )
        if len({t.name for t in self.topologies}) != len(self.topologies):
            raise WrongValueError(
                f"Mesh: topology names repeat in {[t.name for t in self.topologies]}", remedy="name each level once"
            )
        if not isinstance(self.layout, (Layout, ComposedLayout)):
            raise WrongTypeError(
                f"Mesh: layout must be a Layout, got {self.layout!r}",
                remedy="write Layout((4, 32), (32, 1)); plain extents are for 'with Mesh' in a function",
            )
        if isinstance(self.layout, Layout) and self.layout.strides is None:
            object.__setattr__(self, "layout", Layout(self.layout.shape, c_order_strides(flatten(self.layout.shape))))
        if not isinstance(self.names, (tuple, list)) or not all(isinstance(n, str) and n for n in self.names):
            raise WrongTypeError(
                f"Mesh: names must be a tuple of non-empty strings, got {self.names!r}", remedy='write e.g. ("x", "y")'
            )
        object.__setattr__(self, "names", tuple(self.names))
        if self.names and len(self.names) != self.rank:
            raise WrongValueError(
                f"Mesh: {len(self.names)} names {self.names} for {self.rank} axes {self.shape}",
                remedy="give one name for each axis, or none",
            )
        if len(set(self.names)) != len(self.names):
            raise WrongValueError(f"Mesh: axis names repeat in {self.names}", remedy="give each axis a name of its own")
        if all(isinstance(e, int) for e in self.shape) and not is_injective(self.layout):
            raise WrongValueError(
                f"Mesh: layout {self.layout} gives one id to two coordinates, expected an injective layout",
                remedy="give the axes strides that keep all coordinates apart",
            )

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents of the axes."""
        return flatten(self.layout.shape)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Dim:
        """The number of units."""
        return dim_product(self.shape)

    def __getattr__(self, name: str) -> MeshAxis:
        """An axis by its name: ``mesh.w``.

        Raises:
            LookupNameError: no axis has this name; an AttributeError.
        """
        if not name.startswith("_") and name not in type(self).__slots__:  # a field: not filled yet
            if name in self.names:
                return MeshAxis(self, self.names.index(name))
            raise LookupNameError(
                f"mesh has no axis '{name}'", remedy=f"its axes are: {', '.join(self.names) or '(unnamed)'}"
            )
        raise AttributeError(name)

    def __rmatmul__(self, extent: Dim) -> Placed:
        """``64 @ mesh``: an extent over the only axis of a mesh.

        Raises:
            WrongTypeError: the mesh has several axes.
        """
        if self.rank != 1:
            raise WrongTypeError(
                f"a mesh of {self.rank} axes cannot be placed on as a whole",
                remedy=f"name an axis: {', '.join(self.names) or 'the mesh has no names'}",
            )
        return extent @ MeshAxis(self, 0)

    def axis_index(self, name: str) -> int:
        """The index of a named axis.

        Raises:
            WrongValueError: no axis has this name.
        """
        if name not in self.names:
            raise WrongValueError(
                f"mesh has no axis '{name}'", remedy=f"its axes are: {', '.join(self.names) or '(unnamed)'}"
            )
        return self.names.index(name)

    def __getitem__(self, index: int | slice | tuple[int | slice, ...]) -> Mesh:
        """The mesh of some of the units: a constant int or slice for each leading axis.

        Raises:
            WrongTypeError: an index is neither an int nor a slice of ints.
            WrongValueError: an index is out of range, empty, or has a step other than 1.
        """
        return _slice(self, index if isinstance(index, tuple) else (index,))


def _slice(mesh: Mesh, index: tuple[int | slice, ...]) -> Mesh:
    if not isinstance(mesh.layout, Layout):
        raise WrongValueError("Mesh: a slice cannot be sliced again", remedy="slice the whole mesh once")
    if len(index) > mesh.rank:
        raise WrongValueError(
            f"Mesh: {len(index)} indices for {mesh.rank} axes", remedy="give at most one index for each axis"
        )
    shape: list[Dim] = []
    strides: list[Dim] = []
    names: list[str] = []
    offset = 0
    for axis, (extent, stride) in enumerate(flat_modes(mesh.layout)):
        part = index[axis] if axis < len(index) else slice(None)
        if part == slice(None):
            start, stop, keep = 0, extent, True
        elif not isinstance(extent, int) or not isinstance(stride, int):
            raise WrongValueError(
                f"Mesh: axis {axis} has the symbolic extent {extent}, it cannot be sliced",
                remedy="slice another axis, or bind the DimVar",
            )
        elif isinstance(part, int) and not isinstance(part, bool):
            start, stop, keep = part, part + 1, False
        elif isinstance(part, slice) and part.step in (None, 1):
            start = 0 if part.start is None else part.start
            stop, keep = extent if part.stop is None else part.stop, True
        else:
            raise WrongTypeError(
                f"Mesh: index {axis} must be an int or a slice of step 1, got {part!r}", remedy="write mesh[2:4]"
            )
        if part != slice(None) and not (
            isinstance(stop, int) and isinstance(extent, int) and 0 <= start < stop <= extent
        ):
            raise WrongValueError(
                f"Mesh: [{start}, {stop}) is empty or outside axis {axis} of extent {extent}",
                remedy="take at least one unit that the axis has",
            )
        if start:
            assert isinstance(stride, int)
            offset += start * stride
        if keep:
            shape.append(extent if part == slice(None) else stop - start)  # type: ignore[operator]  # ints, as checked
            strides.append(stride)
            names.extend(mesh.names[axis : axis + 1])
    return Mesh(mesh.topologies, ComposedLayout(None, offset, Layout(tuple(shape), tuple(strides))), tuple(names))


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """One axis of a mesh."""

    mesh: Mesh
    axis: int

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, Mesh):
            raise WrongTypeError(
                f"MeshAxis: mesh must be a Mesh, got {self.mesh!r}", remedy="make one: make_mesh((4, 32))"
            )
        if isinstance(self.axis, bool) or not isinstance(self.axis, int):
            raise WrongTypeError(
                f"MeshAxis: axis must be a plain int, got {self.axis!r}", remedy="count the axes of the mesh from 0"
            )
        if not 0 <= self.axis < self.mesh.rank:
            raise WrongValueError(
                f"MeshAxis: axis {self.axis} of a mesh with {self.mesh.rank} axes", remedy="count axes from the first"
            )

    @property
    def extent(self) -> Dim:
        """The number of units along the axis."""
        return self.mesh.shape[self.axis]

    def __rmatmul__(self, extent: Dim) -> Placed:
        """``64 @ mesh.w``."""
        return Placed(extent, (self,))

    def __matmul__(self, state: object) -> ValueState:
        """``mesh.w @ P("sum")``."""
        return ValueState(self, state)

    @property
    def name(self) -> str:
        """The name of the axis, or its number when the mesh is unnamed."""
        return self.mesh.names[self.axis] if self.mesh.names else str(self.axis)


def make_mesh(shape: Sequence[Dim], names: Sequence[str] = (), topology: str | Topology = "thread") -> Mesh:
    """A row-major mesh over one level, as large as the level."""
    shape = check_shape("make_mesh", shape)
    level = topology if isinstance(topology, Topology) else Topology(topology, dim_product(shape))
    return Mesh((level,), Layout(shape, c_order_strides(shape)), names)  # type: ignore[arg-type]  # Mesh checks them


def states_consistent_positions(mesh: Mesh) -> bool:
    """Whether the levels have as many units as the mesh has coordinates."""
    return dim_equal(dim_product(t.size for t in mesh.topologies), size(mesh.layout))


def axis_levels(mesh: Mesh) -> tuple[int, ...]:
    """The index of the topology level that each axis belongs to (runtime spec 2.3).

    Axes are taken from the end: each level, the last one first, takes axes until their product is its size. A size-1
    axis goes to the level being filled. The outermost level takes what is left.

    Raises:
        WrongValueError: the axes do not multiply to the levels, or an axis straddles two of them.
    """
    levels: list[int] = []
    axes = list(mesh.shape)
    for number in reversed(range(len(mesh.topologies))):
        level = mesh.topologies[number]
        product: Dim = 1
        while axes and (number == 0 or not dim_equal(product, level.size)):
            product = dim_mul(product, axes.pop())
            levels.append(number)
        if not dim_equal(product, level.size):
            raise WrongValueError(
                f"mesh axes {format_int_tuple(mesh.shape)} do not fit the levels "
                f"{', '.join(f'{t.name}={format_dim(t.size)}' for t in mesh.topologies)}: "
                f"those of '{level.name}' multiply to {format_dim(product)}",
                remedy="let the axes of each level multiply to its size, innermost level last",
            )
    return tuple(reversed(levels))


def composed(meshes: Sequence[Mesh]) -> Mesh:
    """Nested mesh scopes as one mesh: outermost first, outer strides times the units below.

    Raises:
        WrongValueError: two scopes share a level or an axis name, or a scope is a slice.
    """
    if not isinstance(meshes, (tuple, list)) or not meshes or not all(isinstance(m, Mesh) for m in meshes):
        raise WrongTypeError(
            f"composed: expected one or more meshes, got {meshes!r}", remedy="give the open scopes, outermost first"
        )
    if len(meshes) == 1:
        return meshes[0]
    topologies: list[Topology] = []
    shape: list[Dim] = []
    strides: list[Dim] = []
    names: list[str] = []
    below: Dim = 1
    for mesh in reversed(meshes):
        if not isinstance(mesh.layout, Layout):
            raise WrongValueError(
                "composed: a slice of a mesh cannot be composed with other meshes",
                remedy="compose the whole meshes, then slice",
            )
        modes = flat_modes(mesh.layout)
        topologies[:0] = mesh.topologies
        shape[:0] = [extent for extent, _ in modes]
        strides[:0] = [dim_mul(stride, below) for _, stride in modes]
        names[:0] = mesh.names
        below = dim_mul(below, mesh.size)
    return Mesh(
        tuple(topologies), Layout(tuple(shape), tuple(strides)), tuple(names) if len(names) == len(shape) else ()
    )
