"""Gemma 3 as a Module: one token a step, with keys and values of the tokens before it in caches.

Source: Gemma Team, "Gemma 3 Technical Report" (2025): grouped queries, RMSNorm before and after each block and on
queries and keys, five local layers for each global one.
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import torch

from examples.chat.config import Config
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.ir.core.module import Module


def gemma_layer(config: Config) -> Module:
    """One layer. Its step takes and gives x (1, hidden), and caches of L positions."""
    E, H, HK, D, F = config.hidden, config.heads, config.key_heads, config.head_dim, config.wide
    EPS = config.eps
    L = DimVar("L", 1, config.positions + 1)

    @module
    class Layer:
        @func
        def attend(
            x: Tensor[(1, E), "f32"],
            position: Tensor[(), "i32"],
            mask: Tensor[(1, L), "bool"],
            cos: Tensor[(L, D), "f32"],
            sin: Tensor[(L, D), "f32"],
            keys: Tensor[(1, L, HK, D), "f32"],
            values: Tensor[(1, L, HK, D), "f32"],
            before: ConstTensor[(E,), "f32"],
            q: ConstTensor[(E, H * D), "f32"],
            k: ConstTensor[(E, HK * D), "f32"],
            v: ConstTensor[(E, HK * D), "f32"],
            q_norm: ConstTensor[(D,), "f32"],
            k_norm: ConstTensor[(D,), "f32"],
            out: ConstTensor[(H * D, E), "f32"],
            after: ConstTensor[(E,), "f32"],
        ) -> (Tensor[(1, E), "f32"], Tensor[(1, L, HK, D), "f32"], Tensor[(1, L, HK, D), "f32"]):
            y = tf.rms_norm(x, before, eps=EPS)
            query = tf.rms_norm(tf.reshape(y @ q, (1, 1, H, D)), q_norm, eps=EPS)
            key = tf.rms_norm(tf.reshape(y @ k, (1, 1, HK, D)), k_norm, eps=EPS)
            query, key = tf.rope(query, key, cos, sin, tf.reshape(position, (1,)))
            all_keys = tf.cache_update(keys, position, 1, key)
            all_values = tf.cache_update(values, position, 1, tf.reshape(y @ v, (1, 1, HK, D)))
            mixed = tf.attention(
                tf.transpose(query, perm=(0, 2, 1, 3)),
                tf.transpose(all_keys, perm=(0, 2, 1, 3)),
                tf.transpose(all_values, perm=(0, 2, 1, 3)),
                mask,
            )
            added = x + tf.rms_norm(tf.reshape(mixed, (1, H * D)) @ out, after, eps=EPS)
            return (added, all_keys, all_values)

        @func
        def feed(
            x: Tensor[(1, E), "f32"],
            before_feed: ConstTensor[(E,), "f32"],
            gate: ConstTensor[(E, F), "f32"],
            up: ConstTensor[(E, F), "f32"],
            down: ConstTensor[(F, E), "f32"],
            after_feed: ConstTensor[(E,), "f32"],
        ) -> Tensor[(1, E), "f32"]:
            y = tf.rms_norm(x, before_feed, eps=EPS)
            wide = tf.gelu(y @ gate, approximate="tanh") * (y @ up)
            return x + tf.rms_norm(wide @ down, after_feed, eps=EPS)

        # Checkpoints hold matrices as (out, in).
        @attend.converter("q")
        def _q(attn_q: Tensor[(H * D, E), "f32"]) -> Tensor[(E, H * D), "f32"]:
            return tf.transpose(attn_q, perm=(1, 0))

        @attend.converter("k")
        def _k(attn_k: Tensor[(HK * D, E), "f32"]) -> Tensor[(E, HK * D), "f32"]:
            return tf.transpose(attn_k, perm=(1, 0))

        @attend.converter("v")
        def _v(attn_v: Tensor[(HK * D, E), "f32"]) -> Tensor[(E, HK * D), "f32"]:
            return tf.transpose(attn_v, perm=(1, 0))

        @attend.converter("out")
        def _out(attn_output: Tensor[(E, H * D), "f32"]) -> Tensor[(H * D, E), "f32"]:
            return tf.transpose(attn_output, perm=(1, 0))

        @feed.converter("gate")
        def _gate(ffn_gate: Tensor[(F, E), "f32"]) -> Tensor[(E, F), "f32"]:
            return tf.transpose(ffn_gate, perm=(1, 0))

        @feed.converter("up")
        def _up(ffn_up: Tensor[(F, E), "f32"]) -> Tensor[(E, F), "f32"]:
            return tf.transpose(ffn_up, perm=(1, 0))

        @feed.converter("down")
        def _down(ffn_down: Tensor[(E, F), "f32"]) -> Tensor[(F, E), "f32"]:
            return tf.transpose(ffn_down, perm=(1, 0))

        def forward(self, x, *inputs):
            x, keys, values = self.attend(x, *inputs)
            return self.feed(x), keys, values

    return Layer


def gemma(config: Config) -> Module:
    """The whole model. A step takes what `prepare_inputs_for_generation` makes, and gives (logits, *caches)."""
    V, E, EPS = config.vocabulary, config.hidden, config.eps
    SCALE = config.hidden**0.5
    Layer = gemma_layer(config)

    @module
    class Gemma:
        layers = tuple(Layer.renamed(f"layer{i}") for i in range(config.layers))

        @func
        def embed(token: Tensor[(1,), "i64"], table: ConstTensor[(V, E), "f32"]) -> Tensor[(1, E), "f32"]:
            return tf.index_select(table, token, dim=0) * SCALE

        @func
        def logits(
            x: Tensor[(1, E), "f32"], final: ConstTensor[(E,), "f32"], table: ConstTensor[(V, E), "f32"]
        ) -> Tensor[(V,), "f32"]:
            # The table stays as it is: what is turned is the one row.
            column = tf.transpose(tf.rms_norm(x, final, eps=EPS), perm=(1, 0))
            return tf.reshape(table @ column, (V,))

        def forward(self, token, position, near, far, *caches):
            (local_cos, local_sin, global_cos, global_sin), memory = caches[:4], caches[4:]
            x, state = self.embed(token), []
            for i, layer in enumerate(self.modules):
                seen = (far, global_cos, global_sin) if config.sees_all(i) else (near, local_cos, local_sin)
                x, *cache = layer(x, position, *seen, *memory[2 * i : 2 * i + 2])
                state += cache
            return self.logits(x), *state

        def init_caches(self, steps, *, device):
            """The rotary tables of both kinds of layer, then keys and values of each layer."""
            tables = [rotary(config, base, steps, device) for base in (config.local_base, config.global_base)]
            empty = torch.zeros(1, steps, config.key_heads, config.head_dim, device=device)
            return (*tables[0], *tables[1], *(empty for _ in range(2 * config.layers)))

        def prepare_inputs_for_generation(self, input_ids, step, caches, *, device):
            places = torch.arange(len(caches[0]), device=device)
            far = (places <= step).reshape(1, -1)
            near = far & (places > step - config.window)
            token = input_ids[step].reshape(1).to(device, copy=True)
            return token, torch.tensor(step, dtype=torch.int32, device=device), near, far, *caches

        def append_cache(self, caches, state, step):
            return *caches[:4], *state

    return Gemma


def rotary(config: Config, base: float, length: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin (length, head_dim) of the angles position / base**(2 i / head_dim), for both halves."""
    steps = torch.arange(0, config.head_dim, 2, dtype=torch.float32, device=device) / config.head_dim
    angles = torch.arange(length, dtype=torch.float32, device=device)[:, None] * (1.0 / base**steps)
    return tuple(f(torch.cat([angles, angles], -1)) for f in (torch.cos, torch.sin))


def aliases(config: Config) -> dict[str, str]:
    """From our names to those of a GGUF checkpoint."""
    return {
        **{f"layer{i}": f"blk.{i}" for i in range(config.layers)},
        "table": "token_embd.weight",
        "final": "output_norm.weight",
        "before": "attn_norm.weight",
        "after": "post_attention_norm.weight",
        "before_feed": "ffn_norm.weight",
        "after_feed": "post_ffw_norm.weight",
        "q_norm": "attn_q_norm.weight",
        "k_norm": "attn_k_norm.weight",
        **{
            name: f"{name}.weight"
            for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        },
    }
