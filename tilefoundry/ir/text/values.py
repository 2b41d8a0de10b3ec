"""Compile-time values as canonical text: attributes, types, layouts, meshes, extents.

Text is independent of addresses, hash seeds and dict order. A value of a kind that is not known here is refused, so
that nothing enters a cache key by its `repr`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.type import CallableType, TupleType, Type, UnitType
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, MeshAxis, ShardLayout
from tilefoundry.ir.types import DType, TensorType


class ValuePrinter:
    """Prints values. DimVars and meshes are named once, in `definitions`, in the order of their first use.

    Args:
        reference: the name of an expression that a value refers to, such as a loop variable in an extent.
    """

    def __init__(self, reference: Callable[[Expr], str]) -> None:
        self._reference = reference
        self._meshes: dict[Mesh, str] = {}
        self._dim_vars: dict[DimVar, str] = {}
        self.definitions: list[str] = []

    def value(self, value: object) -> str:
        """A compile-time value.

        Raises:
            WrongTypeError: a value of an unknown kind.
        """
        match value:
            case None | bool() | str():
                return repr(value)
            case Enum():
                return self.enum(value)
            case int() | float():
                return self.number(value)
            case tuple() | list():
                return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
            case Mapping():
                return f"{{{', '.join(f'{self.value(k)}: {self.value(value[k])}' for k in sorted(value))}}}"
            case Expr():
                return self.dim(value)
            case Type():
                return self.type(value)
            case DType():
                return self.dtype(value)
            case Layout() | ComposedLayout() | ShardLayout():
                return self.layout(value)
            case Mesh():
                return self.mesh(value)
            case MeshAxis():
                return self.mesh_axis(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.record(value)
        return self.unknown(value)

    def unknown(self, value: object) -> str:
        """Refuses a value of an unknown kind."""
        raise WrongTypeError(
            f"a {type(value).__qualname__} has no stable text: {value!r}",
            remedy="give the op numbers, strings, tuples, enumerations or frozen dataclasses as attributes",
        )

    def enum(self, value: Enum) -> str:
        """A member of an enumeration."""
        return f"{type(value).__name__}.{value.name}"

    def dtype(self, value: DType) -> str:
        """An element type."""
        return f"DType.{value.name}"

    def number(self, value: int | float) -> str:
        """A number; repr is exact."""
        return repr(value)

    def mesh_axis(self, value: MeshAxis) -> str:
        """An axis of a mesh."""
        return f"{self.mesh(value.mesh)}[{value.axis}]"

    def record(self, value: object) -> str:
        """A dataclass by its fields, those without part in its equality left out."""
        fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
        shown = (f"{f.name}={self.value(getattr(value, f.name))}" for f in fields if f.compare)
        return f"{type(value).__name__}({', '.join(shown)})"

    def dim(self, dim: Dim) -> str:
        """An extent or index."""
        return format_dim(dim, self._atom)

    def _atom(self, atom: Expr) -> str:
        return self.dim_var(atom) if isinstance(atom, DimVar) else self._reference(atom)

    def dim_var(self, dim_var: DimVar) -> str:
        """The name of a DimVar; its envelope is among the definitions."""
        if dim_var not in self._dim_vars:
            taken = set(self._dim_vars.values())
            base = dim_var.name if dim_var.name.isidentifier() else "dim"  # any other text could be an expression
            name, n = base, 1
            while name in taken:
                name, n = f"{base}_{n}", n + 1
            self._dim_vars[dim_var] = name
            self.definitions.append(f"{name} = DimVar({dim_var.name!r}, {dim_var.lo}, {dim_var.hi})")
        return self._dim_vars[dim_var]

    def mesh(self, mesh: Mesh) -> str:
        """The name of a mesh; what it is, is among the definitions."""
        if mesh not in self._meshes:
            levels = "".join(f"Topology({t.name!r}, {self.dim(t.size)}), " for t in mesh.topologies)
            text = f"Mesh(({levels.rstrip()}), {self.value(mesh.layout)}, {self.value(mesh.names)})"
            self._meshes[mesh] = f"mesh{len(self._meshes)}"
            self.definitions.append(f"{self._meshes[mesh]} = {text}")
        return self._meshes[mesh]

    def layout(self, layout: Layout | ComposedLayout | ShardLayout) -> str:
        """A layout."""
        match layout:
            case Layout(shape, strides):
                return f"Layout({self.value(shape)}, {self.value(strides)})"
            case ComposedLayout(inner, offset, outer):
                return f"ComposedLayout({self.value(inner)}, {self.dim(offset)}, {self.value(outer)})"
            case ShardLayout(plain, attrs, mesh):
                return f"ShardLayout({self.layout(plain)}, ({', '.join(map(str, attrs))}), {self.mesh(mesh)})"

    def type(self, type_: Type) -> str:
        """A type."""
        match type_:
            case TensorType(shape, dtype, layout, storage):
                place = f", {self.layout(layout)}" if layout is not None else ""
                return f"Tensor[{self.value(shape)}, {dtype.name}{place}, {storage}]"
            case TupleType(fields):
                return f"({', '.join(map(self.type, fields))}{',' if len(fields) == 1 else ''})"
            case CallableType(return_type, parameters):
                return f"({', '.join(map(self.type, parameters))}) -> {self.type(return_type)}"
            case UnitType():
                return "unit"
        return self.record(type_)
