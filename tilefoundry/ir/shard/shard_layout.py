"""ShardLayout: how the elements of a tensor are spread over the units of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard.attrs import ShardAttr, Split
from tilefoundry.ir.shard.layout import Layout, flatten
from tilefoundry.ir.shard.mesh import Mesh


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """A layout, what each mesh axis does with it, and the mesh.

    Attributes:
        layout: its shape is the unsharded tensor, factored so that each split mode is as large as its mesh axis; its
            strides are steps in the unit's own storage, 0 on a split mode that each unit holds apart. Strides None
            stand for "not decided" until a Reshard decides them.
        attrs: one for each mesh axis.

    Raises:
        WrongTypeError: a field has the wrong type.
        WrongValueError: the number of attributes is not the mesh rank, or a Split names no mode.
    """

    layout: Layout
    attrs: tuple[ShardAttr, ...]
    mesh: Mesh

    def __post_init__(self) -> None:
        if not isinstance(self.layout, Layout):
            raise WrongTypeError(
                f"ShardLayout: layout must be a Layout, got {self.layout!r}",
                remedy="write ShardLayout(Layout((4, 8)), (S(0),), mesh)",
            )
        if not isinstance(self.mesh, Mesh):
            raise WrongTypeError(
                f"ShardLayout: mesh must be a Mesh, got {self.mesh!r}",
                remedy="write ShardLayout(Layout((4, 8)), (S(0),), mesh)",
            )
        attrs = tuple(self.attrs) if isinstance(self.attrs, (tuple, list)) else (None,)
        if not all(isinstance(a, ShardAttr) for a in attrs):
            raise WrongTypeError(
                f"ShardLayout: attrs must be shard attributes, got {self.attrs!r}",
                remedy="write one of S(k), B(), P(), Dynamic() for each mesh axis",
            )
        if len(attrs) != self.mesh.rank:
            raise WrongValueError(
                f"ShardLayout: {len(attrs)} attributes for a mesh of {self.mesh.rank} axes {self.mesh.shape}",
                remedy="write one of S(k), B(), P(), Dynamic() for each mesh axis",
            )
        for attr in attrs:
            if isinstance(attr, Split) and attr.axis >= self.layout.rank:
                raise WrongValueError(
                    f"ShardLayout: {attr} names no mode of the shape {self.layout.shape}",
                    remedy="split a mode that the layout has",
                )
        object.__setattr__(self, "attrs", attrs)

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The canonical shape: the extents of the modes."""
        return flatten(self.layout.shape)

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.layout.rank

    def splitters(self, mode: int) -> tuple[int, ...]:
        """The mesh axes that split a mode."""
        return tuple(m for m, a in enumerate(self.attrs) if isinstance(a, Split) and a.axis == mode)

    def __str__(self) -> str:
        names = self.mesh.names or tuple(map(str, range(self.mesh.rank)))
        return f"{self.layout} {{{', '.join(f'{n}:{a}' for n, a in zip(names, self.attrs, strict=True))}}}"
