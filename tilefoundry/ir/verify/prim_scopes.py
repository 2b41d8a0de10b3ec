"""Mesh scopes of kernels: levels, slices, and which meshes an open scope provides."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import SourceSpan, VerifyError, WrongValueError
from tilefoundry.ir import tir
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.shard import ComposedLayout, Mesh, ShardLayout, axis_levels
from tilefoundry.ir.tir.barriers import participants
from tilefoundry.ir.types import TensorType
from tilefoundry.ir.verify.scopes import in_scope


def meshes_of(type_: Type) -> tuple[Mesh, ...]:
    """The meshes that a type is spread over."""
    if isinstance(type_, TupleType):
        return tuple(mesh for field in type_.fields for mesh in meshes_of(field))
    if isinstance(type_, TensorType) and isinstance(type_.layout, ShardLayout):
        return (type_.layout.mesh,)
    return ()


def check_mesh(mesh: Mesh, scopes: Sequence[Mesh], span: SourceSpan | None) -> None:
    """Refuses a mesh that no open scope provides.

    Raises:
        VerifyError: the mesh is neither a scope's, nor a slice of one, nor nested ones composed.
    """
    if in_scope(mesh, tuple(scopes)) or any(is_slice(mesh, scope) for scope in scopes):
        return
    raise VerifyError(
        f"the mesh of axes {mesh.names or mesh.shape} is not in scope here",
        span=span,
        remedy="open it around this: with Mesh(...) as m:",
    )


def is_slice(mesh: Mesh, scope: Mesh) -> bool:
    """Whether a mesh names some of the units of a scope."""
    if mesh.topologies != scope.topologies or not isinstance(mesh.layout, ComposedLayout):
        return False
    try:
        return set(participants(mesh)) <= set(participants(scope))
    except VerifyError:  # symbolic: only the whole mesh is known to be in scope
        return False


def check_scope(
    fn: tir.PrimFunction, module: Module | None, mesh: Mesh, scopes: Sequence[Mesh], span: SourceSpan | None
) -> None:
    """Checks a mesh that a scope opens: its levels are declared, and its axes fit them.

    Raises:
        VerifyError: a level is not the module's or open already, the axes do not multiply to the levels, or a slice is
            of no open scope.
    """
    span = span or fn.span
    if isinstance(mesh.layout, ComposedLayout):
        if not any(is_slice(mesh, scope) for scope in scopes):
            raise VerifyError(
                f"the slice {mesh.layout} is of no mesh that is in scope here",
                span=span,
                remedy="open the whole mesh first: with Mesh(...) as m, m[0:2] as half:",
            )
        return
    declared = module.effective_topologies() if module is not None else ()
    levels = {t.name: t for t in declared}
    for level in mesh.topologies:
        if declared and levels.get(level.name) != level:
            known = ", ".join(f"{t.name}={format_dim(t.size)}" for t in declared)
            raise VerifyError(
                f"kernel '{fn.name}': topology '{level.name}' of size {format_dim(level.size)} not declared",
                span=span,
                remedy=f"the module declares: {known}",
            )
    try:
        axis_levels(mesh)
    except WrongValueError as error:
        raise VerifyError(error.message, span=span, remedy=error.remedy) from error
