"""A Llama decoder with a KV cache: RMSNorm, rotary positions, grouped queries and SwiGLU.

One function serves prefill (all tokens of a prompt at position 0), decoding (one token) and chunks of any length.

Source: Touvron et al., "LLaMA" (2023); grouped queries: Ainslie et al., "GQA" (2023).
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass

from examples.models.rotary import rotary
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.ir.core.module import Module


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes of Llama 3.2 1B."""

    layers: int = 16
    hidden: int = 2048
    heads: int = 32
    key_heads: int = 8
    head_dim: int = 64
    wide: int = 8192
    base: float = 500_000.0
    eps: float = 1e-5


def llama(config: LlamaConfig, dtype: str = "f32") -> Module:
    """`decode(x, at, keys, values)`: x (B, S, hidden) of the last layer, and both caches with the new tokens in them.

    The S new tokens x (B, S, hidden) stand at positions at .. at + S - 1 of every sequence; `at` is an i32 scalar. The
    caches (layers, B, L, key_heads, head_dim) hold `at` tokens before, and have room for at + S.
    """
    N, E, F, EPS = config.layers, config.hidden, config.wide, config.eps
    H, HK, D = config.heads, config.key_heads, config.head_dim
    B, S, L = DimVar("B", 1, 1025), DimVar("S", 1, 131_073), DimVar("L", 1, 131_073)
    Hidden, Position, Table = Tensor[(B, S, E), dtype], Tensor[(), "i32"], Tensor[(S, D), "f32"]
    Cache, Caches = Tensor[(B, L, HK, D), dtype], Tensor[(N, B, L, HK, D), dtype]
    Gain = ConstTensor[(E,), dtype]
    tables = rotary(S, D, config.base)

    @module(entry="attend")
    class Attention:
        @func
        def attend(
            x: Hidden,
            at: Position,
            cos: Table,
            sin: Table,
            keys: Cache,
            values: Cache,
            query: ConstTensor[(E, H * D), dtype],
            key: ConstTensor[(E, HK * D), dtype],
            value: ConstTensor[(E, HK * D), dtype],
            out: ConstTensor[(H * D, E), dtype],
        ) -> tuple[Hidden, Cache, Cache]:
            new = tf.arange(Tensor[(S,), "i32"])
            q, k = tf.reshape(x @ query, (B, S, H, D)), tf.reshape(x @ key, (B, S, HK, D))
            q, k = tf.rope(q, k, cos, sin, new)
            keys = tf.cache_update(keys, at, S, k)
            values = tf.cache_update(values, at, S, tf.reshape(x @ value, (B, S, HK, D)))
            seen = tf.arange(Tensor[(L,), "i32"]) <= tf.reshape(new + at, (S, 1))
            mixed = tf.attention(
                tf.transpose(q, perm=(0, 2, 1, 3)),
                tf.transpose(keys, perm=(0, 2, 1, 3)),
                tf.transpose(values, perm=(0, 2, 1, 3)),
                seen,
            )
            return tf.reshape(tf.transpose(mixed, perm=(0, 2, 1, 3)), (B, S, H * D)) @ out, keys, values

    @module(entry="feed")
    class FeedForward:
        @func
        def feed(
            x: Hidden,
            gate: ConstTensor[(E, F), dtype],
            up: ConstTensor[(E, F), dtype],
            down: ConstTensor[(F, E), dtype],
        ) -> Hidden:
            return (tf.silu(x @ gate) * (x @ up)) @ down

    @module(entry="layer")
    class Layer:
        attention = Attention
        feed_forward = FeedForward

        @func
        def layer(
            x: Hidden,
            at: Position,
            cos: Table,
            sin: Table,
            keys: Cache,
            values: Cache,
            attention_gain: Gain,
            feed_gain: Gain,
        ) -> tuple[Hidden, Cache, Cache]:
            mixed, keys, values = attention(tf.rms_norm(x, attention_gain, eps=EPS), at, cos, sin, keys, values)
            x = x + mixed
            return x + feed_forward(tf.rms_norm(x, feed_gain, eps=EPS)), keys, values

    @module(entry="decode")
    class Decoder:
        layers = tuple(Layer.renamed(f"layer{i}") for i in range(N))

        @func
        def decode(x: Hidden, at: Position, keys: Caches, values: Caches) -> tuple[Hidden, Caches, Caches]:
            cos, sin = tables(tf.arange(Tensor[(S,), "i32"]) + at)
            for i, layer in enumerate(layers):
                x, k, v = layer(x, at, cos, sin, keys[i], values[i])
                keys = tf.insert_slice(keys, tf.unsqueeze(k, 0), (i, 0, 0, 0, 0))
                values = tf.insert_slice(values, tf.unsqueeze(v, 0), (i, 0, 0, 0, 0))
            return x, keys, values

    return Decoder
