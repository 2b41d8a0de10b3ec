"""Checks of attributes, which fail when the op is made."""

from __future__ import annotations

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand


def plain_int(op: str, name: str, value: object) -> int:
    """`value`, which must be a plain int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongTypeError(f"{op}: {name} must be a plain int, got {value!r}")
    return value


def ints(op: str, name: str, value: object) -> tuple[int, ...]:
    """A non-empty tuple of plain ints; one int stands for a tuple of it."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    if not items or not all(type(item) is int for item in items):
        raise WrongTypeError(f"{op}: {name} must be an int or a non-empty tuple of ints, got {value!r}")
    return tuple(items)


def extents(op: str, name: str, value: object) -> tuple[Dim, ...]:
    """A tuple of ints and dims, each in normal form."""
    if not isinstance(value, (tuple, list)) or not all(is_dim_operand(d) for d in value):
        raise WrongTypeError(f"{op}: {name} must be a tuple of ints and dims, got {value!r}")
    return tuple(normalize_dim(d) for d in value)
