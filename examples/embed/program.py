"""The encoder of all-MiniLM-L6-v2 as a Module: embeddings, six layers, pooling. One sentence at a time, no padding.

Source: Wang et al., "MiniLM: Deep Self-Attention Distillation" (2020); the layers are BERT's (Devlin et al., 2018).
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, ReduceKind, Tensor, tf
from tilefoundry.ir.core.module import Module

LAYERS, HIDDEN, HEADS, HEAD_DIM, WIDE, EPS = 6, 384, 12, 32, 1536, 1e-12
VOCABULARY, POSITIONS = 30522, 512
S = DimVar("S", 1, POSITIONS + 1)


@module(entry="embed")
class Embeddings:
    @func
    def embed(
        ids: Tensor[(S,), "i64"],
        words: ConstTensor[(VOCABULARY, HIDDEN), "f32"],
        positions: ConstTensor[(POSITIONS, HIDDEN), "f32"],
        types: ConstTensor[(2, HIDDEN), "f32"],
        gain: ConstTensor[(HIDDEN,), "f32"],
        shift: ConstTensor[(HIDDEN,), "f32"],
    ) -> Tensor[(S, HIDDEN), "f32"]:
        places = tf.index_select(positions, tf.arange(Tensor[(S,), "i64"]), dim=0)
        return tf.layer_norm(tf.index_select(words, ids, dim=0) + types[0] + places, gain, shift, eps=EPS)


@module(entry="attend")
class Attention:
    @func
    def attend(
        x: Tensor[(S, HIDDEN), "f32"],
        qkv: ConstTensor[(3, HIDDEN, HIDDEN), "f32"],
        qkv_bias: ConstTensor[(3, 1, HIDDEN), "f32"],
        out: ConstTensor[(HIDDEN, HIDDEN), "f32"],
        out_bias: ConstTensor[(HIDDEN,), "f32"],
        gain: ConstTensor[(HIDDEN,), "f32"],
        shift: ConstTensor[(HIDDEN,), "f32"],
    ) -> Tensor[(S, HIDDEN), "f32"]:
        heads = tf.transpose(tf.reshape(x @ qkv + qkv_bias, (3, S, HEADS, HEAD_DIM)), perm=(0, 2, 1, 3))
        mixed = tf.transpose(tf.attention(heads[0:1], heads[1:2], heads[2:3]), perm=(0, 2, 1, 3))
        return tf.layer_norm(tf.reshape(mixed, (S, HIDDEN)) @ out + out_bias + x, gain, shift, eps=EPS)

    # The checkpoint holds (out, in) matrices, and query, key and value apart: prepare stacks the three.
    @attend.converter("qkv")
    def _qkv(qkv_weights: Tensor[(3, HIDDEN, HIDDEN), "f32"]) -> Tensor[(3, HIDDEN, HIDDEN), "f32"]:
        return tf.transpose(qkv_weights, perm=(0, 2, 1))

    @attend.converter("qkv_bias")
    def _qkv_bias(qkv_biases: Tensor[(3, HIDDEN), "f32"]) -> Tensor[(3, 1, HIDDEN), "f32"]:
        return tf.reshape(qkv_biases, (3, 1, HIDDEN))

    @attend.converter("out")
    def _out(out_weight: Tensor[(HIDDEN, HIDDEN), "f32"]) -> Tensor[(HIDDEN, HIDDEN), "f32"]:
        return tf.transpose(out_weight, perm=(1, 0))


@module(entry="feed")
class FeedForward:
    @func
    def feed(
        x: Tensor[(S, HIDDEN), "f32"],
        up: ConstTensor[(HIDDEN, WIDE), "f32"],
        up_bias: ConstTensor[(WIDE,), "f32"],
        down: ConstTensor[(WIDE, HIDDEN), "f32"],
        down_bias: ConstTensor[(HIDDEN,), "f32"],
        gain: ConstTensor[(HIDDEN,), "f32"],
        shift: ConstTensor[(HIDDEN,), "f32"],
    ) -> Tensor[(S, HIDDEN), "f32"]:
        wide = tf.gelu(x @ up + up_bias, approximate="none")
        return tf.layer_norm(wide @ down + down_bias + x, gain, shift, eps=EPS)

    @feed.converter("up")
    def _up(up_weight: Tensor[(WIDE, HIDDEN), "f32"]) -> Tensor[(HIDDEN, WIDE), "f32"]:
        return tf.transpose(up_weight, perm=(1, 0))

    @feed.converter("down")
    def _down(down_weight: Tensor[(HIDDEN, WIDE), "f32"]) -> Tensor[(WIDE, HIDDEN), "f32"]:
        return tf.transpose(down_weight, perm=(1, 0))


@module(entry="layer")
class Layer:
    attention = Attention
    feed_forward = FeedForward

    @func
    def layer(x: Tensor[(S, HIDDEN), "f32"]) -> Tensor[(S, HIDDEN), "f32"]:
        return feed_forward(attention(x))


@module(entry="pool")
class Encoder:
    """`forward(ids)`: the sentence's embedding (384,), of length 1."""

    embeddings = Embeddings
    layers = tuple(Layer.renamed(f"layer{i}") for i in range(LAYERS))

    @func
    def pool(x: Tensor[(S, HIDDEN), "f32"]) -> Tensor[(HIDDEN,), "f32"]:
        mean = tf.reduce(x, (0,), False, ReduceKind.MEAN)
        return mean * tf.rsqrt(tf.reduce(mean * mean, (0,), True, ReduceKind.SUM))

    def hidden(self, ids):
        """(tokens, 384): what the last layer gives."""
        x, *layers = self.embeddings(ids), *self.modules[1:]
        for layer in layers:
            x = layer(x)
        return x

    def forward(self, ids):
        return self.pool(self.hidden(ids))


ENCODER: Module = Encoder

# From our names to the checkpoint's. A bare name serves wherever it is asked for.
ALIAS: dict[str, str | tuple[str, ...]] = {
    "words": "word_embeddings.weight",
    "positions": "position_embeddings.weight",
    "types": "token_type_embeddings.weight",
    "embeddings.gain": "LayerNorm.weight",
    "embeddings.shift": "LayerNorm.bias",
    **{f"layer{i}": f"encoder.layer.{i}" for i in range(LAYERS)},
    "feed_forward": "",  # BERT has no such level
    "qkv_weights": tuple(f"self.{name}.weight" for name in ("query", "key", "value")),
    "qkv_biases": tuple(f"self.{name}.bias" for name in ("query", "key", "value")),
    "out_weight": "output.dense.weight",
    "out_bias": "output.dense.bias",
    "up_weight": "intermediate.dense.weight",
    "up_bias": "intermediate.dense.bias",
    "down_weight": "output.dense.weight",
    "down_bias": "output.dense.bias",
    "gain": "output.LayerNorm.weight",
    "shift": "output.LayerNorm.bias",
}
