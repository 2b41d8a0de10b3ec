"""MmaSm80: one warp's matrix instruction of 16x8x16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.atoms import ATOMS, MmaAtom
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.matrix.instruction import (
    check_majors,
    check_operand,
    checked_triple,
    is_fragment,
    written_fragment,
)
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.types import DType, StorageKind, TensorType

_ATOMS = {
    (atom.lhs.dtype, atom.rhs.dtype, atom.acc.dtype): atom
    for name, atom in ATOMS.items()
    if name.startswith("SM80_16x8x16")
}


@register_op(category="matrix", name="mma_sm80_16x8x16")
@dataclass(frozen=True, slots=True)
class MmaSm80(Op):
    """``a @ b`` by one warp, all in registers.

    Shapes: a (16, 16), b (16, 8) -> (16, 8)

    Attributes:
        dtype_a, dtype_b, dtype_acc: of the operands and the result; (bf16, bf16, f32) or (f16, f16, f32).
        a_layout, b_layout: "T" and "N": K is innermost in both.

    Placement: exactly the fragments of PTX ISA, "Matrix Fragments for mma.m16n8k16", over a mesh of one warp with the
    layout (4, 8):(1, 4), as `tilefoundry.ir.atoms` has them. The result is the accumulator's fragment. Partial: none.
    """

    a: ClassVar[ParamDef] = ParamDef()
    b: ClassVar[ParamDef] = ParamDef()
    dtype_a: DType
    dtype_b: DType
    dtype_acc: DType
    a_layout: str = "T"
    b_layout: str = "N"

    def __post_init__(self) -> None:
        triple = checked_triple("mma_sm80_16x8x16", tuple(_ATOMS), self.dtype_a, self.dtype_b, self.dtype_acc)
        for name, dtype in zip(("dtype_a", "dtype_b", "dtype_acc"), triple, strict=True):
            object.__setattr__(self, name, dtype)
        check_majors("mma_sm80_16x8x16", self.a_layout, self.b_layout)

    @property
    def atom(self) -> MmaAtom:
        """The instruction."""
        return _ATOMS[self.dtype_a, self.dtype_b, self.dtype_acc]

    def type_rule(self, ctx: TypeContext, a: Expr | int, b: Expr | int) -> TensorType:  # type: ignore[override]
        """The accumulator's fragment over the mesh of the operands."""
        atom = self.atom
        types = [tensor_operand(ctx, name, operand) for name, operand in (("a", a), ("b", b))]
        for name, t, fragment in zip("ab", types, (atom.lhs, atom.rhs), strict=True):
            check_operand(ctx, name, t, fragment)
            if not is_fragment(t, fragment, atom.scope):
                ctx.error(
                    f"'{name}' is not the fragment that {atom.name} takes, got {t}",
                    written_fragment(fragment, atom.scope),
                )
        first, second = (t.layout for t in types)
        assert isinstance(first, ShardLayout) and isinstance(second, ShardLayout)
        if first.mesh != second.mesh:
            ctx.error("'a' and 'b' are held by different warps", "tf.reshard one of them over the mesh of the other")
        layout = ShardLayout(atom.acc.layout, atom.acc.attrs, first.mesh)
        return TensorType(atom.acc.shape, atom.acc.dtype, layout, StorageKind.RMEM)
