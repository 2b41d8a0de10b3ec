"""Swizzle: a permutation of the indices of a tile, so that the rows of a column meet different banks."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongValueError


@dataclass(frozen=True, slots=True)
class Swizzle:
    """``index ^ ((index >> shift) & mask)`` with ``mask`` of ``bits`` bits from bit ``base`` on, as CuTe's Swizzle.

    Of 16-bit elements, ``Swizzle(3, 3, 3)`` exchanges the chunks of 8 in rows of 64 by the number of the row modulo 8:
    in bytes the 128-byte form that TMA writes and wgmma reads.

    Raises:
        WrongValueError: a field is no int of 0 or more, or the exchanged bits are not below those that choose.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        for name in ("bits", "base", "shift"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise WrongValueError(f"Swizzle: {name} must be an int of 0 or more, got {value!r}", remedy="write 3")
        if self.shift < self.bits:
            raise WrongValueError(
                f"Swizzle: shift {self.shift} must be at least bits {self.bits}", remedy="write Swizzle(3, 3, 3)"
            )

    @property
    def period(self) -> int:
        """Indices after which the permutation repeats: a swizzled tile starts at a multiple of these elements."""
        return 1 << (self.base + self.shift + self.bits)

    def __call__(self, index: int) -> int:
        """Where the element at `index` lies."""
        return index ^ ((index >> self.shift) & (((1 << self.bits) - 1) << self.base))

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"
