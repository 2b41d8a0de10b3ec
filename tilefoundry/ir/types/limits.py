"""What element types can hold."""

from __future__ import annotations

import math

from tilefoundry.ir.types.dtype import FloatDType


def largest_finite(dtype: FloatDType) -> float:
    """The largest finite value of a float dtype."""
    special = {"fp8e4m3": 448.0, "f4e2m1": 6.0, "f8e8m0": 2.0**127}  # formats without infinities
    if dtype.name in special:
        return special[dtype.name]
    top = 2 ** (dtype.exponent - 1) - 1
    return math.ldexp(2.0 - 2.0**-dtype.mantissa, top)
