"""Matrix multiply-accumulate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.tir.ops.base import EffectOp


@dataclass(frozen=True, slots=True)
class Mma(EffectOp):
    """``Mma()(a, b, acc)``: acc += a @ b.

    ``a`` (M, K) and ``b`` (K, N) are shared tiles of the CTA with any strides, ``acc`` (M, N) is a register fragment.
    """

    reads: ClassVar[tuple[int, ...]] = (0, 1, 2)
    writes: ClassVar[tuple[int, ...]] = (2,)
    collective: ClassVar[bool] = True
