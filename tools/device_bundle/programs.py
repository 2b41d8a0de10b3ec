"""The attention programs of a bundle, each under the name of its library: `programs.attention_d64_bf16_causal`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from examples.attention.program import attention_module

_NAME = re.compile(r"attention_d(?P<dim>\d+)_(?P<dtype>f32|f16|bf16)(?P<causal>_causal)?")


@dataclass(frozen=True)
class Variant:
    """One attention program: its head dimension, dtype, and whether it is causal."""

    head_dim: int
    dtype: str
    causal: bool


def variant_of(name: str) -> Variant | None:
    """The program of a name `attention_d<dim>_<dtype>[_causal]`; None for any other name."""
    match = _NAME.fullmatch(name)
    return Variant(int(match["dim"]), match["dtype"], match["causal"] is not None) if match else None


def __getattr__(name: str) -> Any:
    """The program of a name, for the kernel rule, which names programs by attribute (PEP 562)."""
    variant = variant_of(name)
    if variant is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return attention_module(variant.head_dim, variant.dtype, variant.causal)
