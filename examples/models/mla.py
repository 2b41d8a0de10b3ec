"""Multi-head latent attention: the cache holds one compressed latent, and one rotated key, for all heads together.

The layer has two bodies, chosen by the number of new tokens. Several (prefill) *expand* the latents to keys and values
of each head. One (decoding) is *absorbed*: the matrix that would expand the keys is applied to the query instead, so
that all heads attend to the latents themselves, as multi-query attention. Both compute the same.

Source: DeepSeek-AI, "DeepSeek-V2" (2024), section 2.1. Rotary pairs are the halves of a head, as `tf.rope` takes them;
the checkpoints interleave them, which a converter of the matrices `query_up` and `rope_key` would undo.
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass

from examples.models.rotary import rotary
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Tensor, tf
from tilefoundry.ir.core.module import Module


@dataclass(frozen=True)
class MlaConfig:
    """The sizes of MiniCPM3 4B.

    Attributes:
        query_rank: width of the compressed queries.
        rank: width of the compressed keys and values, the latents.
        width: of a head's keys and queries that carry no position.
        rope_width: of the rotated part of a query, and of the one rotated key.
        value_width: of a head's values.
    """

    hidden: int = 2560
    heads: int = 40
    query_rank: int = 768
    rank: int = 256
    width: int = 64
    rope_width: int = 32
    value_width: int = 64
    base: float = 10_000.0
    eps: float = 1e-6


def mla(config: MlaConfig, dtype: str = "f32") -> Module:
    """`attend(x, at, latents, rope_keys)`: (B, S, hidden), and both caches with the new tokens in them.

    The S new tokens x (B, S, hidden) stand at positions at .. at + S - 1 of every sequence; `at` is an i32 scalar. The
    caches `latents` (B, L, 1, rank) and `rope_keys` (B, L, 1, rope_width) hold `at` tokens before.
    """
    E, H, QR, R = config.hidden, config.heads, config.query_rank, config.rank
    D, DR, DV, EPS = config.width, config.rope_width, config.value_width, config.eps
    SCALE = (D + DR) ** -0.5
    B, S, L = DimVar("B", 1, 1025), DimVar("S", 1, 131_073), DimVar("L", 1, 131_073)
    Hidden, Position, Seen = Tensor[(B, S, E), dtype], Tensor[(), "i32"], Tensor[(S, L), "bool"]
    Latents, RopeKeys = Tensor[(B, L, 1, R), dtype], Tensor[(B, L, 1, DR), dtype]
    Queries, Mixed = Tensor[(B, H, S, D + DR), dtype], Tensor[(B, H, S, DV), dtype]
    KeyUp, ValueUp = ConstTensor[(H, D, R), dtype], ConstTensor[(H, R, DV), dtype]
    tables = rotary(S, DR, config.base)

    @module(entry="mix")
    class Heads:
        @func
        def mix(q: Queries, c: Latents, r: RopeKeys, seen: Seen, key_up: KeyUp, value_up: ValueUp) -> Mixed:
            pass

        @mix.specialize(DimVarRangePat("S", 1, 2))
        def absorbed(q: Queries, c: Latents, r: RopeKeys, seen: Seen, key_up: KeyUp, value_up: ValueUp) -> Mixed:
            queries = tf.concat(q[..., :D] @ key_up, q[..., D:], axis=-1)
            keys = tf.transpose(tf.concat(c, r, axis=-1), perm=(0, 2, 1, 3))
            return tf.attention(queries, keys, tf.transpose(c, perm=(0, 2, 1, 3)), seen, scale=SCALE) @ value_up

        @mix.specialize(DimVarRangePat("S", 2, 131_073))
        def expanded(q: Queries, c: Latents, r: RopeKeys, seen: Seen, key_up: KeyUp, value_up: ValueUp) -> Mixed:
            c = tf.transpose(c, perm=(0, 2, 1, 3))
            shared = tf.expand(tf.transpose(r, perm=(0, 2, 1, 3)), (B, H, L, DR))
            keys = tf.concat(c @ tf.transpose(key_up, perm=(0, 2, 1)), shared, axis=-1)
            return tf.attention(q, keys, c @ value_up, seen, scale=SCALE)

    @module(entry="attend")
    class LatentAttention:
        heads = Heads

        @func
        def attend(
            x: Hidden,
            at: Position,
            latents: Latents,
            rope_keys: RopeKeys,
            query_down: ConstTensor[(E, QR), dtype],
            query_gain: ConstTensor[(QR,), dtype],
            query_up: ConstTensor[(QR, H * (D + DR)), dtype],
            latent_down: ConstTensor[(E, R), dtype],
            latent_gain: ConstTensor[(R,), dtype],
            rope_key: ConstTensor[(E, DR), dtype],
            out: ConstTensor[(H * DV, E), dtype],
        ) -> tuple[Hidden, Latents, RopeKeys]:
            new = tf.arange(Tensor[(S,), "i32"])
            cos, sin = tables(new + at)
            q = tf.reshape(tf.rms_norm(x @ query_down, query_gain, eps=EPS) @ query_up, (B, S, H, D + DR))
            q_turned, key = tf.rope(q[..., D:], tf.unsqueeze(x @ rope_key, 2), cos, sin, new)
            q = tf.transpose(tf.concat(q[..., :D], q_turned, axis=-1), perm=(0, 2, 1, 3))
            latent = tf.rms_norm(x @ latent_down, latent_gain, eps=EPS)
            latents = tf.cache_update(latents, at, S, tf.unsqueeze(latent, 2))
            rope_keys = tf.cache_update(rope_keys, at, S, key)
            seen = tf.arange(Tensor[(L,), "i32"]) <= tf.reshape(new + at, (S, 1))
            mixed = heads(q, latents, rope_keys, seen)
            return tf.reshape(tf.transpose(mixed, perm=(0, 2, 1, 3)), (B, S, H * DV)) @ out, latents, rope_keys

    return LatentAttention
