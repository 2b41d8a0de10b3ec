"""A BERT encoder: layers of attention in both directions and a GELU feed-forward, each added and normalised after.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018).
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.ir.core.module import Module


@dataclass(frozen=True)
class BertConfig:
    """The sizes of BERT-base."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    wide: int = 3072
    eps: float = 1e-12


def bert(config: BertConfig, dtype: str = "f32") -> Module:
    """`encode(x, seen)`: x (B, S, hidden) of the last layer, for embeddings x (B, S, hidden).

    `seen` (B, S) bool is False for padding, which no token attends to. What comes out at padding is of no use.
    """
    E, H, F, EPS = config.hidden, config.heads, config.wide, config.eps
    D = E // H
    B, S = DimVar("B", 1, 1025), DimVar("S", 1, 513)
    Hidden, Seen, Heads = Tensor[(B, S, E), dtype], Tensor[(B, S), "bool"], Tensor[(B, H, S, D), dtype]
    Square, Vector = ConstTensor[(E, E), dtype], ConstTensor[(E,), dtype]

    @module(entry="attend")
    class Attention:
        @func
        def by_head(y: Hidden) -> Heads:
            return tf.transpose(tf.reshape(y, (B, S, H, D)), perm=(0, 2, 1, 3))

        @func
        def attend(
            x: Hidden,
            seen: Seen,
            query: Square,
            query_bias: Vector,
            key: Square,
            key_bias: Vector,
            value: Square,
            value_bias: Vector,
            out: Square,
            out_bias: Vector,
        ) -> Hidden:
            q, k, v = by_head(x @ query + query_bias), by_head(x @ key + key_bias), by_head(x @ value + value_bias)
            mixed = tf.attention(q, k, v, tf.reshape(seen, (B, 1, 1, S)))
            return tf.reshape(tf.transpose(mixed, perm=(0, 2, 1, 3)), (B, S, E)) @ out + out_bias

    @module(entry="feed")
    class FeedForward:
        @func
        def feed(
            x: Hidden,
            up: ConstTensor[(E, F), dtype],
            up_bias: ConstTensor[(F,), dtype],
            down: ConstTensor[(F, E), dtype],
            down_bias: Vector,
        ) -> Hidden:
            return tf.gelu(x @ up + up_bias, approximate="none") @ down + down_bias

    @module(entry="layer")
    class Layer:
        attention = Attention
        feed_forward = FeedForward

        @func
        def layer(
            x: Hidden,
            seen: Seen,
            attention_gain: Vector,
            attention_shift: Vector,
            feed_gain: Vector,
            feed_shift: Vector,
        ) -> Hidden:
            x = tf.layer_norm(x + attention(x, seen), attention_gain, attention_shift, eps=EPS)
            return tf.layer_norm(x + feed_forward(x), feed_gain, feed_shift, eps=EPS)

    @module(entry="encode")
    class Encoder:
        layers = tuple(Layer.renamed(f"layer{i}") for i in range(config.layers))

        @func
        def encode(x: Hidden, seen: Seen) -> Hidden:
            for layer in layers:
                x = layer(x, seen)
            return x

    return Encoder
