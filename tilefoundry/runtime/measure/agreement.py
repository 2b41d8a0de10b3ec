"""Bounds for outputs that were computed by the same operations, compiled differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from tilefoundry.runtime.measure.bits import is_discrete
from tilefoundry.runtime.measure.exact import Equal
from tilefoundry.runtime.measure.norm import RelL2
from tilefoundry.runtime.measure.predicate import Predicate
from tilefoundry.runtime.measure.structure import flatten

_EPSILONS = 4


def same_operations(outputs: object) -> Mapping[str, Sequence[Predicate]]:
    """For each output (as `check` names them) the bound: rel_l2 of 4 epsilons of its dtype; equality of integers.

    Compilers may contract products and sums, which removes roundings, and nothing else. NaNs must be where they were.

    Raises:
        CheckTypeError: an output is no tensor or tuple of tensors.
    """
    return {path: (_bound(tensor.dtype),) for path, tensor in flatten(outputs, "output")}


def _bound(dtype: torch.dtype) -> Predicate:
    if is_discrete(dtype):
        return Equal()
    return RelL2(max=_EPSILONS * torch.finfo(dtype).eps, equal_nan=True)
