"""The sizes of a Gemma 3 text model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """Sizes and constants; the defaults are those that every Gemma 3 text model shares.

    Attributes:
        window: how many tokens a local layer sees.
        global_every: each layer of this number sees all tokens, the others are local.
        local_base, global_base: the rotary embeddings' bases.
    """

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    wide: int
    window: int
    global_every: int = 6
    local_base: float = 10_000.0
    global_base: float = 1_000_000.0
    eps: float = 1e-6
    positions: int = 32_768

    def sees_all(self, layer: int) -> bool:
        """Whether a layer, counted from 0, is a global one."""
        return (layer + 1) % self.global_every == 0
