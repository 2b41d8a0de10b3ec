# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs without meshes, which the compiler places, and what torch says to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor as TorchTensor
from torch.nn import functional

from tilefoundry import DimVar, func
from tilefoundry.dsl import Tensor, tf
from tilefoundry.ir.core.function import Function

M = DimVar("M", 1, 1 << 24)


@dataclass(frozen=True)
class Unplaced:
    """A program of bf16 tensors.

    Attributes:
        shapes: of the arguments, for `rows` rows.
        depth: of a product in it: two operations for each element of the result and each step; 0 without one.
    """

    name: str
    program: Function
    peer: Callable[..., TorchTensor]
    shapes: Callable[[int], tuple[tuple[int, ...], ...]]
    depth: int = 0


def unplaced(width: int) -> tuple[Unplaced, ...]:
    """What a layer of this width is made of, each by itself."""
    N, DT = width, "bf16"

    @func
    def softmax(x: Tensor[(M, N), DT]) -> Tensor[(M, N), DT]:
        return tf.softmax(x, axis=-1)

    @func
    def rms_norm(x: Tensor[(M, N), DT], w: Tensor[(N,), DT]) -> Tensor[(M, N), DT]:
        return tf.rms_norm(x, w)

    @func
    def gate(x: Tensor[(M, N), DT], y: Tensor[(M, N), DT]) -> Tensor[(M, N), DT]:
        return tf.silu(x) * y

    @func
    def sums(x: Tensor[(M, N), DT]) -> Tensor[(M,), DT]:
        return tf.reduce(x, (-1,), False)

    @func
    def linear(x: Tensor[(M, N), DT], w: Tensor[(N, N), DT], b: Tensor[(N,), DT]) -> Tensor[(M, N), DT]:
        return tf.gelu(x @ w + b)

    @func
    def attention(
        q: Tensor[(1, N // 128, M, 128), DT], k: Tensor[(1, N // 128, M, 128), DT], v: Tensor[(1, N // 128, M, 128), DT]
    ) -> Tensor[(1, N // 128, M, 128), DT]:
        return tf.attention(q, k, v)

    def rows(m: int) -> tuple[tuple[int, ...], ...]:
        return ((m, N),)

    return (
        Unplaced("softmax", softmax, lambda x: x.softmax(-1), rows),
        Unplaced("rms_norm", rms_norm, lambda x, w: functional.rms_norm(x, (N,), w, 1e-6), lambda m: ((m, N), (N,))),
        Unplaced("silu(x) * y", gate, lambda x, y: functional.silu(x) * y, lambda m: ((m, N), (m, N))),
        Unplaced("row means", sums, lambda x: x.mean(-1), rows),
        Unplaced(
            "gelu(x @ w + b)",
            linear,
            lambda x, w, b: functional.gelu(torch.addmm(b, x, w), approximate="tanh"),
            lambda m: ((m, N), (N, N), (N,)),
            depth=N,
        ),
        Unplaced(
            "attention",
            attention,
            functional.scaled_dot_product_attention,
            lambda m: ((1, N // 128, m, 128),) * 3,
        ),
    )
