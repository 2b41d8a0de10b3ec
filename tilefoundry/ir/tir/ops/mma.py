"""Matrix multiply-accumulate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.atoms import Fragment, MmaAtom
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.shard import ShardLayout, in_axis_order
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import tensor, written
from tilefoundry.ir.types import StorageKind, TensorType


@register_op(dialect="T", category="matrix", name="mma")
@dataclass(frozen=True, slots=True)
class Mma(EffectOp):
    """``Mma(atom)(acc, lhs, rhs)``: acc += lhs @ rhs.

    With an atom, all three are its register fragments, of one warp. Without one, ``lhs`` (M, K) and ``rhs`` (K, N) are
    shared tiles of the CTA with any strides, ``acc`` (M, N) is a register fragment, and the runtime chooses the
    instruction.
    """

    acc: ClassVar[ParamDef] = ParamDef()
    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()
    atom: MmaAtom | None = None

    reads: ClassVar[tuple[int, ...]] = (0, 1, 2)
    writes: ClassVar[tuple[int, ...]] = (0,)
    collective: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.atom is not None and not isinstance(self.atom, MmaAtom):
            raise WrongTypeError(
                f"mma: atom must be an MmaAtom, got {self.atom!r}",
                remedy="write atom=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN",
            )

    def check(self, ctx: TypeContext, acc: Expr, lhs: Expr, rhs: Expr) -> None:  # type: ignore[override]
        """(M, N) += (M, K) @ (K, N); with an atom, exactly its fragments."""
        c, a, b = written(ctx, "acc", acc), tensor(ctx, "lhs", lhs), tensor(ctx, "rhs", rhs)
        for name, type_ in (("acc", c), ("lhs", a), ("rhs", b)):
            if type_.rank != 2:
                ctx.error(
                    f"'{name}' must be a matrix, got {type_}",
                    remedy="view it as a matrix: T.tensor_view(x, shape=(M, K))",
                )
        if not (dim_equal(a.shape[0], c.shape[0]) and dim_equal(b.shape[1], c.shape[1])) or not dim_equal(
            a.shape[1], b.shape[0]
        ):
            ctx.error(
                f"the shapes {a.shape} @ {b.shape} do not give {c.shape}",
                remedy="give a (M, K), b (K, N) and acc (M, N)",
            )
        if self.atom is not None:
            for name, type_, fragment in zip(("acc", "lhs", "rhs"), (c, a, b), self.atom.fragments, strict=True):
                _check_fragment(ctx, self.atom, name, type_, fragment)


def _check_fragment(ctx: TypeContext, atom: MmaAtom, name: str, type_: TensorType, fragment: Fragment) -> None:
    if type_.shape != fragment.shape or type_.dtype != fragment.dtype or type_.storage is not StorageKind.RMEM:
        ctx.error(
            f"'{name}' of {atom.name} is a tensor of {fragment.shape} {fragment.dtype} in registers, got {type_}",
            remedy="give it the atom's fragment layout: T.alloc_tensor(...) with the layout of the atom",
        )
    layout = type_.layout
    if (
        not isinstance(layout, ShardLayout)
        or layout.mesh.shape != atom.scope.shape
        or (layout.shape, layout.attrs) not in _spellings(fragment, layout)
    ):
        ctx.error(
            f"'{name}' of {atom.name} has the layout {fragment.layout} split by {fragment.attrs}, got {layout}",
            f"write ShardLayout(Layout({fragment.layout.shape}, {fragment.layout.strides}), {fragment.attrs}, mesh)",
        )


def _spellings(fragment: Fragment, like: ShardLayout) -> list[tuple[object, object]]:
    """Modes and attributes of a fragment, innermost mode first as the atom has them, or in the order of the axes."""
    written = ShardLayout(fragment.layout, fragment.attrs, like.mesh)
    return [(sl.shape, sl.attrs) for sl in (written, in_axis_order(written, fragment.shape))]
