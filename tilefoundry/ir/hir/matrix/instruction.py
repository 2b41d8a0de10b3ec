"""What the ops that are one matrix instruction share: the instructions, and the checks of their operands."""

from __future__ import annotations

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.atoms import Fragment
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, ShardLayout
from tilefoundry.ir.types import DType, StorageKind, TensorType, resolve_dtype

Triple = tuple[DType, DType, DType]


def checked_triple(op: str, known: tuple[Triple, ...], a: DType, b: DType, acc: DType) -> Triple:
    """The dtypes of both operands and of the accumulator, which the instruction must have.

    Raises:
        WrongValueError: no instruction has these; lists those that there are.
    """
    triple = (resolve_dtype(a), resolve_dtype(b), resolve_dtype(acc))
    if triple not in known:
        written = ", ".join(f"({', '.join(map(str, t))})" for t in known)
        raise WrongValueError(
            f"{op}: no instruction multiplies {triple[0]} by {triple[1]} into {triple[2]}",
            remedy=f"use (dtype_a, dtype_b, dtype_acc) of {written}",
        )
    return triple


def check_majors(op: str, a_layout: str, b_layout: str) -> None:
    """Both operands lie with K innermost: a is "T" (row-major), b is "N" (column-major), in the terms of BLAS.

    Raises:
        WrongValueError: another layout.
    """
    if (a_layout, b_layout) != ("T", "N"):
        raise WrongValueError(
            f"{op}: no instruction takes a_layout={a_layout!r}, b_layout={b_layout!r}",
            remedy='use a_layout="T", b_layout="N"; tf.transpose an operand that lies otherwise',
        )


def is_scope(mesh: Mesh, scope: Layout) -> bool:
    """Whether the units of a mesh are those that run an instruction together: its shape and strides, to the letter."""
    layout = mesh.layout
    plain = layout.outer if isinstance(layout, ComposedLayout) and layout.inner is None else layout
    return isinstance(plain, Layout) and (plain.shape, plain.strides) == (scope.shape, scope.strides)


def check_operand(ctx: TypeContext, name: str, t: TensorType, fragment: Fragment) -> None:
    """Refuses an operand of another shape or dtype."""
    if t.shape != fragment.shape or t.dtype != fragment.dtype:
        ctx.error(
            f"'{name}' must be a tensor of shape {fragment.shape} and dtype {fragment.dtype}, got {t}",
            "take windows of this shape, and cast them",
        )


def is_fragment(t: TensorType, fragment: Fragment, scope: Layout) -> bool:
    """Whether each unit holds in registers exactly what the instruction expects there."""
    sl = t.layout
    return (
        t.storage is StorageKind.RMEM
        and isinstance(sl, ShardLayout)
        and (sl.layout, sl.attrs) == (fragment.layout, fragment.attrs)
        and is_scope(sl.mesh, scope)
    )


def written_fragment(fragment: Fragment, scope: Layout) -> str:
    """The layout of a fragment, as a remedy writes it."""
    return (
        f"tf.reshard it to ShardLayout({fragment.layout}, {fragment.attrs}, mesh) in rmem, where mesh has the layout "
        f"{scope}"
    )
