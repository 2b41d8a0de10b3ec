"""A model of Gemma 3's architecture small enough for every test run: random weights, under a checkpoint's names."""

from __future__ import annotations

import torch
from torch import Tensor

from examples.chat.config import Config

# A local layer of which the window is soon full, then a global one; two query heads for each key head.
TINY = Config(
    vocabulary=97,
    hidden=32,
    layers=2,
    heads=4,
    key_heads=2,
    head_dim=8,
    wide=48,
    window=4,
    global_every=2,
    positions=64,
)


def checkpoint(config: Config, seed: int = 0) -> dict[str, Tensor]:
    """Random tensors as a GGUF checkpoint names and shapes them."""
    random = torch.Generator().manual_seed(seed)
    hidden, queries, keys = config.hidden, config.heads * config.head_dim, config.key_heads * config.head_dim
    vectors = {
        **dict.fromkeys(("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"), hidden),
        **dict.fromkeys(("attn_q_norm", "attn_k_norm"), config.head_dim),
    }
    matrices = {
        "attn_q": (queries, hidden),
        "attn_k": (keys, hidden),
        "attn_v": (keys, hidden),
        "attn_output": (hidden, queries),
        "ffn_gate": (config.wide, hidden),
        "ffn_up": (config.wide, hidden),
        "ffn_down": (hidden, config.wide),
    }

    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=random) / columns**0.5

    def vector(size: int) -> Tensor:
        return 0.5 + torch.rand(size, generator=random)

    tensors = {"token_embd.weight": matrix(config.vocabulary, hidden), "output_norm.weight": vector(hidden)}
    for i in range(config.layers):
        tensors |= {f"blk.{i}.{name}.weight": vector(size) for name, size in vectors.items()}
        tensors |= {f"blk.{i}.{name}.weight": matrix(*shape) for name, shape in matrices.items()}
    return tensors
