"""Bit patterns of tensors, and exact distances between them.

A distance of two 64-bit patterns needs 65 signed bits. It is kept as an unsigned 64-bit number inside an int64
tensor (torch has no arithmetic on uint64), and leaves as a Python int.
"""

from __future__ import annotations

import torch
from torch import Tensor

_INT_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_INT64_MIN = -(2**63)


def bit_view(tensor: Tensor) -> Tensor:
    """The tensor's bit patterns as integers of the same width; a complex tensor gains a last axis of 2."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.resolve_neg().view(_INT_OF_SIZE[tensor.element_size()])


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape and dtype hold the same bits."""
    return torch.equal(bit_view(a), bit_view(b))


def integer_order(tensor: Tensor) -> Tensor:
    """Integers or booleans as int64 values in the same order, the same distances apart (modulo 2**64)."""
    if tensor.dtype == torch.uint64:
        return tensor.view(torch.int64) ^ _INT64_MIN
    return tensor.to(torch.int64)


def float_order(tensor: Tensor) -> Tensor:
    """Floats as int64 ordinals: neighbours are 1 apart, and -0.0 and +0.0 are the same point."""
    bits = bit_view(tensor).to(torch.int64)
    if tensor.dtype == torch.float8_e8m0fnu:  # no sign bit: an exponent alone
        return bits & 0xFF
    magnitude = bits & ((1 << (8 * tensor.element_size() - 1)) - 1)
    return torch.where(bits < 0, -magnitude, magnitude)


def unsigned_distance(a: Tensor, b: Tensor) -> Tensor:
    """`|a - b|` of int64 tensors, as unsigned 64-bit numbers."""
    return torch.where(a >= b, a - b, b - a)


def largest_unsigned(distance: Tensor) -> tuple[int, int]:
    """Value and flat position of the largest entry of a non-empty `unsigned_distance`."""
    ordered = distance ^ _INT64_MIN  # unsigned order becomes signed order
    where = int(ordered.argmax())
    return int(ordered[where]) + 2**63, where


def is_discrete(dtype: torch.dtype) -> bool:
    """Whether the dtype holds integers or booleans."""
    return not (dtype.is_floating_point or dtype.is_complex)


__all__ = [
    "bit_view",
    "float_order",
    "integer_order",
    "is_discrete",
    "largest_unsigned",
    "same_bits",
    "unsigned_distance",
]
