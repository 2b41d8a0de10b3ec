"""Inputs and results as trees of tensors: paths of their leaves, copies, and agreement of form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tilefoundry.runtime.measure.errors import CheckTypeError, CheckValueError

Leaves = list[tuple[str, Tensor]]


def flatten(tree: object, path: str) -> Leaves:
    """Leaves of a tensor or a nested tuple of tensors, with paths `path`, `path[0]`, `path[0][1]`, ...

    Raises:
        CheckTypeError: a leaf is anything but a dense tensor that holds data.
    """
    if isinstance(tree, Tensor):
        return [(path, _dense(tree, path))]
    if isinstance(tree, tuple):
        return [leaf for i, item in enumerate(tree) for leaf in flatten(item, f"{path}[{i}]")]
    remedy = "; write a tuple" if isinstance(tree, list) else ""
    raise CheckTypeError(f"{path}: expected a torch.Tensor or a tuple of them, got {type(tree).__name__}{remedy}")


def copy_inputs(inputs: tuple[object, ...]) -> tuple[object, ...]:
    """The same tree over new memory. A tensor given twice is one tensor in the copy, too."""
    copies: dict[int, Tensor] = {}

    def copy(tree: Any) -> Any:
        if isinstance(tree, Tensor):
            return copies.setdefault(id(tree), tree.detach().clone())
        items = [copy(item) for item in tree]
        # A named tuple takes its fields one by one.
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)

    return tuple(copy(tree) for tree in inputs)


def require_same_form(candidate: Leaves, reference: Leaves) -> None:
    """Refuse a candidate whose structure, shapes or dtypes differ, or whose memory the reference returned, too."""
    paths, expected = [path for path, _ in candidate], [path for path, _ in reference]
    if paths != expected:
        raise CheckValueError(f"structure differs: the candidate has {_list(paths)}, the reference {_list(expected)}")
    for (path, c), (_, r) in zip(candidate, reference, strict=True):
        if c.shape != r.shape:
            raise CheckValueError(f"{path}: the candidate has shape {tuple(c.shape)}, the reference {tuple(r.shape)}")
        if c.dtype != r.dtype:
            raise CheckValueError(f"{path}: the candidate has dtype {c.dtype}, the reference {r.dtype}")
        if c.numel() and c.device == r.device and c.untyped_storage().data_ptr() == r.untyped_storage().data_ptr():
            raise CheckValueError(
                f"{path}: candidate and reference returned the same memory, so comparing them proves nothing; "
                "return a copy from one of them"
            )


def _dense(tensor: Tensor, path: str) -> Tensor:
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
        kind = "meta" if tensor.is_meta else "quantized" if tensor.is_quantized else str(tensor.layout)
        raise CheckTypeError(f"{path}: expected a dense tensor that holds data, got a {kind} tensor")
    return tensor.detach()


def _list(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "no tensor"
