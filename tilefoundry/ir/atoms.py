"""The matrix instructions that a kernel may name, with the fragments that they take."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.ir.shard import Layout, ShardAttr, Split
from tilefoundry.ir.types import DType


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operand: its shape, element type, and which element each instance of the scope holds.

    The strides of `layout` are steps in the row-major matrix that the fragment is a part of.
    """

    shape: tuple[int, int]
    dtype: DType
    layout: Layout
    attrs: tuple[ShardAttr, ...]


@dataclass(frozen=True, slots=True)
class MmaAtom:
    """One instruction: acc (M, N) += lhs (M, K) @ rhs (K, N).

    Attributes:
        scope: the instances that run it together: shape and strides of their mesh.
    """

    name: str
    scope: Layout = field(repr=False)
    acc: Fragment = field(repr=False)
    lhs: Fragment = field(repr=False)
    rhs: Fragment = field(repr=False)

    @property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment]:
        """acc, lhs, rhs."""
        return self.acc, self.lhs, self.rhs


def _sm80(name: str, dtype: DType) -> MmaAtom:
    # A warp as (4, 8):(1, 4): lane = quad + 4 * group. PTX ISA, "Matrix Fragments for mma.m16n8k16".
    return MmaAtom(
        name,
        Layout((4, 8), (1, 4)),
        Fragment((16, 8), DType.f32, Layout((2, 4, 8, 2), (1, 2, 8, 64)), (Split(1), Split(2))),
        Fragment((16, 16), dtype, Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)), (Split(1), Split(3))),
        Fragment((16, 8), dtype, Layout((8, 2, 4, 2), (1, 8, 16, 64)), (Split(2), Split(0))),
    )


ATOMS = {
    atom.name: atom
    for atom in (
        _sm80("SM80_16x8x16_F32BF16BF16F32_TN", DType.bf16),
        _sm80("SM80_16x8x16_F32F16F16F32_TN", DType.f16),
    )
}
