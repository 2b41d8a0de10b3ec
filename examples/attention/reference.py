"""What the kernel is held against: attention in f64, rounded once; and the bounds that it must keep."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from tilefoundry.runtime import NanInf, Predicate, RelL2

TORCH_DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}

# ||c - r|| / ||r||. In f16 and bf16 the softmax weights and the result are rounded once each, by up to 2**-12 and 2**-9
# of their size: 3e-4 and 2e-3 over normal data. In f32 only the order of summation and exp differ: 5e-7.
_REL_L2 = {"f32": 2e-6, "f16": 4e-4, "bf16": 3e-3}


def expectations(dtype: str) -> Sequence[Predicate]:
    """The bounds for one output in `dtype`."""
    return [RelL2(max=_REL_L2[dtype]), NanInf()]


def attention_f64(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """softmax(q kᵀ / sqrt(D)) v of (B, S, D) tensors in f64, rounded once to their dtype. One head at a time."""
    mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool, device=q.device).triu(1) if causal else None
    heads = []
    for head in range(q.shape[0]):
        scores = q[head].double() @ k[head].double().mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores.masked_fill_(mask, -math.inf)
        heads.append((scores.softmax(-1) @ v[head].double()).to(q.dtype))
    return torch.stack(heads)


def attention_torch(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """torch's own attention in the inputs' dtype."""
    fused = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)
    return fused[0]
