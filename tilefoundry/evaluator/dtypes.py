"""Element types of the IR as torch dtypes."""

from __future__ import annotations

import math

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.ir.types import DType

TORCH: dict[DType, torch.dtype] = {
    DType.f64: torch.float64,
    DType.f32: torch.float32,
    DType.f16: torch.float16,
    DType.bf16: torch.bfloat16,
    DType.fp8e4m3: torch.float8_e4m3fn,
    DType.fp8e5m2: torch.float8_e5m2,
    DType.f8e8m0: torch.float8_e8m0fnu,
    DType.i64: torch.int64,
    DType.i32: torch.int32,
    DType.i16: torch.int16,
    DType.i8: torch.int8,
    DType.u8: torch.uint8,
    DType.bool: torch.bool,
}


def torch_dtype(dtype: DType) -> torch.dtype:
    """The torch dtype that holds values of `dtype`.

    Raises:
        EvalError: torch has none (f4e2m1).
    """
    if dtype not in TORCH:
        raise EvalError(f"torch has no dtype for {dtype}", remedy="keep such values out of what is evaluated")
    return TORCH[dtype]


def element(value: bool | int | float, dtype: torch.dtype) -> bool | int | float:
    """A number as torch takes it for an element of `dtype`: ints of more than 64 bits become floats, or infinities."""
    if not dtype.is_floating_point or not isinstance(value, int):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
