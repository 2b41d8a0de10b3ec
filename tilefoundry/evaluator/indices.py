"""Arithmetic on index scalars that differ between units."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.diagnostics import DimSubstitutionError, EvalValueError
from tilefoundry.evaluator.spread import Spread, Value, lift_index, settled_index
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.dims.ops import DimAdd, DimFloorDiv, DimMax, DimMin, DimMod, DimMul, DimOp, DimSub

_TORCH: dict[type[DimOp], Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    DimAdd: torch.add,
    DimSub: torch.sub,
    DimMul: torch.mul,
    DimFloorDiv: torch.floor_divide,
    DimMod: torch.remainder,
    DimMin: torch.minimum,
    DimMax: torch.maximum,
}


def fold(units: Units | None, op: DimOp, values: tuple[Value, ...], device: torch.device) -> Value:
    """The value of a dim op.

    Raises:
        EvalValueError: it divides by zero, on some unit.
    """
    if units is None or not any(isinstance(v, Spread) for v in values):
        try:
            return op.fold(*(int(v) for v in values))  # type: ignore[call-overload]  # ints and rank-0 tensors
        except DimSubstitutionError as error:
            raise EvalValueError(error.message, remedy=error.remedy) from error
    lhs, rhs = (lift_index(units, v, device) for v in values)
    if isinstance(op, (DimFloorDiv, DimMod)) and not rhs.all():
        raise EvalValueError("division by 0 in an index, on some unit", remedy="keep the divisor above 0: max(n, 1)")
    return settled_index(units, _TORCH[type(op)](lhs, rhs))
