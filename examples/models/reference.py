"""The same models in plain torch and f64, from their papers: no caches, no grouping, no batched experts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from examples.models.bert import BertConfig
from examples.models.llama import LlamaConfig
from examples.models.mla import MlaConfig
from examples.models.moe import MoeConfig

Weights = Mapping[str, Tensor]


def bert(config: BertConfig, weights: Weights, x: Tensor, seen: Tensor) -> Tensor:
    """(B, S, hidden) f64 of embeddings (B, S, hidden), where `seen` (B, S) bool is False for padding."""
    x = x.double()
    for i in range(config.layers):
        w = _scope(weights, f"layer{i}")
        q, k, v = (x @ w[f"attention.{n}"] + w[f"attention.{n}_bias"] for n in ("query", "key", "value"))
        mixed = torch.empty_like(x)
        for heads in torch.arange(config.hidden).chunk(config.heads):
            scores = q[..., heads] @ k[..., heads].mT / math.sqrt(len(heads))
            scores = scores.masked_fill(~seen[:, None, :], -math.inf)
            mixed[..., heads] = scores.softmax(-1) @ v[..., heads]
        x = x + mixed @ w["attention.out"] + w["attention.out_bias"]
        x = functional.layer_norm(x, (config.hidden,), w["attention_gain"], w["attention_shift"], config.eps)
        wide = functional.gelu(x @ w["feed_forward.up"] + w["feed_forward.up_bias"])
        x = x + wide @ w["feed_forward.down"] + w["feed_forward.down_bias"]
        x = functional.layer_norm(x, (config.hidden,), w["feed_gain"], w["feed_shift"], config.eps)
    return x


def llama(config: LlamaConfig, weights: Weights, x: Tensor) -> Tensor:
    """(B, S, hidden) f64 of embeddings (B, S, hidden) of whole sequences."""
    x = x.double()
    group, places = config.heads // config.key_heads, torch.arange(x.shape[1])
    for i in range(config.layers):
        w = _scope(weights, f"layer{i}")
        y = functional.rms_norm(x, (config.hidden,), w["attention_gain"], config.eps)
        q, k, v = (
            (y @ w[f"attention.{n}"]).view(*x.shape[:2], -1, config.head_dim).transpose(1, 2)
            for n in ("query", "key", "value")
        )
        q, k = (rotated(t, places, config.base) for t in (q, k))
        mixed = causal(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))
        x = x + mixed.transpose(1, 2).flatten(2) @ w["attention.out"]
        y = functional.rms_norm(x, (config.hidden,), w["feed_gain"], config.eps)
        gate, up, down = (w[f"feed_forward.{n}"] for n in ("gate", "up", "down"))
        x = x + (functional.silu(y @ gate) * (y @ up)) @ down
    return x


def moe(config: MoeConfig, weights: Weights, x: Tensor) -> Tensor:
    """(B, S, hidden) f64 of (B, S, hidden): token by token, expert by expert."""
    w = _scope(weights)
    result = torch.zeros_like(x, dtype=torch.float64)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in x.shape[:2])).tolist():
        token = x[*place].double()
        odds = (token @ w["router"]).softmax(-1)
        best = odds.argsort(descending=True)[: config.chosen]
        for expert in best.tolist():
            wide = functional.silu(token @ w["gate"][expert]) * (token @ w["up"][expert])
            result[*place] += odds[expert] / odds[best].sum() * (wide @ w["down"][expert])
    return result


def mla(config: MlaConfig, weights: Weights, x: Tensor) -> Tensor:
    """(B, S, hidden) f64 of (B, S, hidden) of whole sequences, by the equations of the paper."""
    x, w, places = x.double(), _scope(weights), torch.arange(x.shape[1])
    c_q = functional.rms_norm(x @ w["query_down"], (config.query_rank,), w["query_gain"], config.eps)
    c_kv = functional.rms_norm(x @ w["latent_down"], (config.rank,), w["latent_gain"], config.eps)
    q = (c_q @ w["query_up"]).view(*x.shape[:2], config.heads, -1).transpose(1, 2)
    q_c, q_r = q[..., : config.width], q[..., config.width :]
    k_r = rotated(x @ w["rope_key"], places, config.base)
    k_c = torch.einsum("btr,hdr->bhtd", c_kv, w["heads.key_up"])
    v = torch.einsum("btr,hrd->bhtd", c_kv, w["heads.value_up"])
    keys = torch.cat([k_c, k_r[:, None].expand(-1, config.heads, -1, -1)], -1)
    mixed = causal(torch.cat([q_c, rotated(q_r, places, config.base)], -1), keys, v)
    return mixed.transpose(1, 2).flatten(2) @ w["out"]


def rotated(x: Tensor, places: Tensor, base: float) -> Tensor:
    """Rotary embedding of (..., S, width) by complex numbers: element i and i + width / 2 are one of them."""
    half = x.shape[-1] // 2
    angles = places.double()[:, None] / base ** (torch.arange(half).double() / half)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of (B, H, S, width) in which each token sees itself and the tokens before it."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -math.inf).softmax(-1) @ v


def _scope(weights: Weights, scope: str = "") -> Weights:
    """The weights below a dotted path, in f64."""
    start = f"{scope}." if scope else ""
    return {name.removeprefix(start): value.double() for name, value in weights.items() if name.startswith(start)}
