"""Compile-time values as Python expressions of the surface language."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from enum import Enum
from itertools import combinations
from typing import NoReturn

from tilefoundry.diagnostics import ExtractError, TileFoundryError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Dynamic,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    Placed,
    ShardAttr,
    ShardLayout,
    Split,
    Topology,
    axis_levels,
    layout_from_sugar,
    make_mesh,
)
from tilefoundry.ir.text.script.names import GlobalNames, is_name
from tilefoundry.ir.text.values import ValuePrinter
from tilefoundry.ir.types import AnyLayout, DType, StorageKind, TensorType
from tilefoundry.target.document import Document

OpenMesh = tuple[Mesh, str]  # a `with Mesh` scope and the name that it is open under


class ScriptValues(ValuePrinter):
    """Prints values as they are written in one function.

    Attributes:
        names: the names at the top of the script.
        levels: the topology levels that the module declares, which meshes name by string.
        open: the mesh scopes around what is printed, outermost first.

    Args:
        reference: the spelling of a variable in an extent.
    """

    def __init__(self, names: GlobalNames, levels: tuple[Topology, ...], reference: Callable[[Expr], str]) -> None:
        super().__init__(reference)
        self.names = names
        self.levels = levels
        self.open: list[OpenMesh] = []

    # -- numbers and names

    def unknown(self, value: object) -> NoReturn:
        """Refuses a value that the surface language cannot write."""
        raise ExtractError(
            f"a value of type {type(value).__qualname__} has no spelling in a script: {value!r}",
            remedy="give the op an attribute that can be written in a program",
        )

    def record(self, value: object) -> str:
        """A topology by its two fields; no other dataclass has a spelling of its own."""
        if isinstance(value, Topology):
            return self.topology(value)
        if isinstance(value, ShardAttr):
            return self._attr(value)
        self.unknown(value)

    def value(self, value: object) -> str:
        """A compile-time value; strings in double quotes."""
        return quoted(value) if isinstance(value, str) and not isinstance(value, Enum) else super().value(value)

    def topology(self, level: Topology) -> str:
        """``Topology("thread", 128)``"""
        return f"{self.names.dsl('Topology')}({quoted(level.name)}, {self.dim(level.size)})"

    def enum(self, value: Enum) -> str:
        """A member of an enumeration; a memory by its name in quotes."""
        if isinstance(value, StorageKind):
            return f'"{value}"'
        kind = type(value)
        home = "tilefoundry.dsl" if kind.__name__ in ("BinaryKind", "UnaryKind", "ReduceKind") else kind.__module__
        return f"{self.names.imported(home, kind.__qualname__)}.{value.name}"

    def dtype(self, value: DType) -> str:
        """``DType.f32``"""
        return f"{self.names.dsl('DType')}.{value.name}"

    def number(self, value: int | float) -> str:
        """A number that reads back exactly."""
        if math.isfinite(value):
            return repr(value)
        return f"{self.names.builtin('float')}({quoted(str(value))})"

    def dim(self, dim: Dim) -> str:
        """An extent; normal forms read back as they are."""
        return format_dim(dim, self._atom, (self.names.builtin("min"), self.names.builtin("max")))

    def dim_var(self, dim_var: DimVar) -> str:
        """The name of a DimVar, which is defined at the top of the script."""
        if dim_var not in self._dim_vars:
            text = f"{self.names.dsl('DimVar')}({quoted(dim_var.name)}, {dim_var.lo}, {dim_var.hi})"
            self._dim_vars[dim_var] = self.names.define_once(dim_var.name, text)
        return self._dim_vars[dim_var]

    # -- meshes and layouts

    def mesh(self, mesh: Mesh) -> str:
        """The name of an open scope, or the expression that makes the mesh."""
        for known, name in self.open:
            if known == mesh:
                return name
        return self.mesh_call(mesh)

    def mesh_call(self, mesh: Mesh) -> str:
        """``Mesh(("thread",), (4, 32), ("w", "l"))``"""
        levels = [quoted(t.name) if t in self.levels else self.topology(t) for t in mesh.topologies]
        short = mesh.layout == make_mesh(mesh.shape).layout and _fits_levels(mesh)
        layout = self.value(mesh.shape) if short else self.layout(mesh.layout)
        names = f", {self.value(mesh.names)}" if mesh.names else ""
        return f"{self.names.dsl('Mesh')}({_tuple(levels)}, {layout}{names})"

    def mesh_axis(self, value: MeshAxis) -> str:
        """``m.w``, or ``m`` where the mesh has one axis and no names.

        Raises:
            ExtractError: the axis has no name, or its mesh is not open here.
        """
        text = self._axis(value)
        if text is None:
            raise ExtractError(
                f"axis {value.axis} of a mesh of shape {value.mesh.shape} cannot be named here",
                remedy="give its mesh names, and open it around its uses",
            )
        return text

    def _axis(self, value: MeshAxis) -> str | None:
        name = next((name for mesh, name in self.open if mesh == value.mesh), None)
        if name is None:
            return None
        if value.mesh.names:
            axis = value.mesh.names[value.axis]
            return f"{name}.{axis}" if is_name(axis) and value.mesh.names.count(axis) == 1 else None
        return name if value.mesh.rank == 1 else None

    def layout(self, layout: Layout | ComposedLayout | ShardLayout) -> str:
        """A layout as the call of its class."""
        match layout:
            case Layout(shape, strides):
                rest = f", {self.value(strides)}" if strides is not None else ""
                return f"{self.names.dsl('Layout')}({self.value(shape)}{rest})"
            case ComposedLayout(inner, offset, outer):
                parts = f"{self.value(inner)}, {self.dim(offset)}, {self.value(outer)}"
                return f"{self.names.dsl('ComposedLayout')}({parts})"
            case ShardLayout(plain, attrs, mesh):
                parts = f"{self.layout(plain)}, {_tuple([self._attr(a) for a in attrs])}, {self.mesh(mesh)}"
                return f"{self.names.dsl('ShardLayout')}({parts})"

    def _attr(self, attr: ShardAttr) -> str:
        match attr:
            case Split(axis):
                return f"{self.names.dsl('S')}({axis})"
            case Broadcast():
                return f"{self.names.dsl('B')}()"
            case Partial(reduction):
                return f"{self.names.dsl('P')}({quoted(reduction)})"
            case Dynamic():
                return f"{self.names.dsl('Dynamic')}()"
        self.unknown(attr)

    def placement(self, layout: AnyLayout) -> str:
        """A layout where sugar is understood: ``(4 @ m.w, 64)``, if that means exactly this layout here."""
        if isinstance(layout, Layout):
            flat = layout.strides is None and not any(isinstance(e, tuple) for e in layout.shape)
            return self.value(layout.shape) if flat else self.layout(layout)
        if isinstance(layout, ShardLayout):
            scopes = [mesh for mesh, _ in self.open]
            for count in range(1, len(scopes) + 1):
                for used in combinations(scopes, count):
                    text = self._sugar(layout, used, scopes)
                    if text is not None:
                        return text
        return self.layout(layout)

    def _sugar(self, layout: ShardLayout, used: tuple[Mesh, ...], scopes: list[Mesh]) -> str | None:
        """The entries that mean `layout` over the composition of some scopes; None if there are none."""
        plain = layout.layout
        axes = [MeshAxis(mesh, k) for mesh in used for k in range(mesh.rank)]
        if len(axes) != len(layout.attrs) or any(isinstance(e, tuple) for e in plain.shape):
            return None
        names = [self._axis(axis) for axis in axes]
        entries: list[Dim | Placed] = []
        texts: list[str] = []
        for mode, extent in enumerate(plain.shape):
            at = layout.splitters(mode)
            spelled = [names[k] for k in at]
            if any(name is None for name in spelled):
                return None
            entries.append(Placed(extent, tuple(axes[k] for k in at)) if at else extent)
            where = "" if not at else f" @ {spelled[0]}" if len(at) == 1 else f" @ ({', '.join(map(str, spelled))})"
            text = self.dim(extent)
            texts.append(
                f"({text}){where}" if where and not text.isidentifier() and not text.isdigit() else text + where
            )
        states = [(axes[k], names[k], a) for k, a in enumerate(layout.attrs) if isinstance(a, Partial)]
        if any(name is None for _, name, _ in states):
            return None
        pairs = [(axis, attr) for axis, _, attr in states]
        try:
            meant = layout_from_sugar(entries, pairs, plain.strides, scopes)
        except TileFoundryError:
            return None
        if meant != layout:
            return None
        parts = [_tuple(texts)]
        if plain.strides is not None:
            parts.append(self.value(plain.strides))
        if states:
            parts.append(f"{{{', '.join(f'{name} @ {self._attr(attr)}' for _, name, attr in states)}}}")
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    # -- types

    def type(self, type_: Type) -> str:
        """``Tensor[(64, 256), "f32", layout, "smem"]``, or a tuple of types.

        Raises:
            ExtractError: the annotation would mean another type.
        """
        if isinstance(type_, TupleType) and type_.fields:
            return f"{self.names.builtin('tuple')}[{', '.join(map(self.type, type_.fields))}]"
        return self.annotation(type_, "Tensor")

    def annotation(self, type_: Type, marker: str) -> str:
        """The type of a parameter, with `marker` for ``Tensor``: a weight's is ``ConstTensor``."""
        if not isinstance(type_, TensorType):
            raise ExtractError(f"the type {type_} has no spelling in an annotation", remedy="use tensors")
        layout = type_.layout
        open_strides = (isinstance(layout, Layout) and layout.strides is None) or (
            isinstance(layout, ShardLayout) and layout.layout.strides is None
        )
        if open_strides:
            raise ExtractError(
                f"the type {type_} has a layout without strides; an annotation decides them", remedy="give strides"
            )
        parts = [self.value(type_.shape), f'"{type_.dtype}"']
        if layout is not None:
            parts.append(self.layout(layout))
        if type_.storage is not StorageKind.GMEM:
            parts.append(f'"{type_.storage}"')
        return f"{self.names.dsl(marker)}[{', '.join(parts)}]"

    def can_be_annotated(self, type_: Type) -> bool:
        """Whether an annotation can mean exactly this type: it knows no variables of the function."""
        around, self._reference = self._reference, _no_variable
        opened, self.open = self.open, []
        try:
            self.annotation(type_, "Tensor")
        except ExtractError:
            return False
        finally:
            self._reference, self.open = around, opened
        return True


def _no_variable(atom: Expr) -> NoReturn:
    raise ExtractError(f"{atom!r} stands in a type", remedy="use DimVars")


class HeaderValues(ScriptValues):
    """Prints values that Python itself evaluates: decorators."""

    def dim(self, dim: Dim) -> str:
        """An extent, with functions that work on DimVars."""
        home = "tilefoundry.ir.dims"
        extrema = (self._lazy(home, "dim_min", dim), self._lazy(home, "dim_max", dim))
        return format_dim(dim, self._atom, extrema)

    def _lazy(self, home: str, name: str, dim: Dim) -> str:
        """Imports `name` only for an extent that needs it."""
        return self.names.imported(home, name) if f"{name[4:]}(" in format_dim(dim) else name

    def target(self, target: object) -> str:
        """The call that makes a target.

        Raises:
            ExtractError: its documents have no name to load them by.
        """
        kind = type(target)
        make = self.names.imported(_home(kind), kind.__qualname__)
        for arguments in _target_arguments(target):
            try:
                if kind(**arguments) == target:
                    given = [quoted(v) if k == "device" else f"{k}={quoted(v)}" for k, v in arguments.items()]
                    return f"{make}({', '.join(given)})"
            except TileFoundryError:
                continue
        raise ExtractError(f"the target {target!r} has no spelling in a script", remedy="use a target with a known id")


def _home(kind: type) -> str:
    return "tilefoundry.target" if kind.__module__.startswith("tilefoundry.target.") else kind.__module__


def _target_arguments(target: object) -> list[dict[str, object]]:
    """Arguments that may make a target: a document by its id, other fields as they are."""
    assert dataclasses.is_dataclass(target)
    fields = {f.name: getattr(target, f.name) for f in dataclasses.fields(target) if f.compare}
    plain = {name: value.id if isinstance(value, Document) else value for name, value in fields.items()}
    if "device" not in plain:
        return [plain]
    device, rest = plain["device"], {k: v for k, v in plain.items() if k != "device"}
    return [{"device": device}, {"device": device, "arch": rest.get("arch")}, plain]


def _fits_levels(mesh: Mesh) -> bool:
    try:
        axis_levels(mesh)
    except TileFoundryError:
        return False
    return True


def quoted(value: object) -> str:
    """The repr of a value; a string in double quotes where that takes no escapes."""
    text = repr(value)
    plain = isinstance(value, str) and text.startswith("'") and not {'"', "\\"} & set(text)
    return f'"{text[1:-1]}"' if plain else text


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
