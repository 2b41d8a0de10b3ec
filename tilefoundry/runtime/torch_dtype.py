"""Element types as torch names them."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.types import DType

_TORCH = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e4m3": torch.float8_e4m3fn,
    "fp8e5m2": torch.float8_e5m2,
    "f8e8m0": torch.float8_e8m0fnu,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


def torch_dtype(dtype: DType) -> torch.dtype:
    """The torch dtype of a DType.

    Raises:
        WrongTypeError: torch has none (f4e2m1).
    """
    if dtype.name not in _TORCH:
        raise WrongTypeError(f"dtype {dtype} has no counterpart in torch", remedy=f"use one of {', '.join(_TORCH)}")
    return _TORCH[dtype.name]
