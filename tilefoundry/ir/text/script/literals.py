"""Which constant the front end makes of a number among the operands of an op."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.text.script.analysis import is_index_value
from tilefoundry.ir.types import DType, TensorType


def adopted_dtype(operands: Sequence[Expr | int]) -> DType | None:
    """The dtype that numbers adopt: of the tensors first, of other scalars next; conditions do not count."""
    values = [e for e in operands if isinstance(e, Expr) and not isinstance(e, Constant) and not is_index_value(e)]
    types = [e.type for e in values if isinstance(e.type, TensorType)]
    for candidates in ([t for t in types if t.shape], types):
        for type_ in candidates:
            if type_.dtype != DType.bool:
                return type_.dtype
    return DType.i64 if any(isinstance(e, Expr) and is_index_value(e) for e in operands) else None


def literal_type(value: bool | int | float, adopted: DType | None) -> TensorType | None:
    """The type of the constant that the number becomes; None where it is refused."""
    if isinstance(value, bool):
        return TensorType.scalar(DType.bool)
    if isinstance(value, int):
        if adopted is not None and adopted.is_float:
            return None
        dtype = adopted if adopted is not None and adopted.is_integer else DType.i64
        return INDEX_TYPE if dtype == DType.i64 else TensorType.scalar(dtype)
    if adopted is not None and not adopted.is_float:
        return None
    return TensorType.scalar(adopted if adopted is not None else DType.f32)
