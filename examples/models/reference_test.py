"""The plain torch, against transformers' own modules on the same weights.

transformers computes norms, angles and routing in f32, whatever the dtype: that is what the bound allows for.
"""

# mypy: ignore-errors
# (transformers' models are untyped)

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig as PeerBert
from transformers import DeepseekV3Config, LlamaModel, MixtralConfig
from transformers import LlamaConfig as PeerLlama
from transformers.models.bert.modeling_bert import BertLayer
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention, DeepseekV3RotaryEmbedding
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

from examples.models import reference
from examples.models.bert import BertConfig, bert
from examples.models.llama import LlamaConfig, llama
from examples.models.mla import MlaConfig, mla
from examples.models.moe import MoeConfig, moe
from examples.models.weights import random_weights

BATCH, LENGTH = 2, 7
BOUND = 2e-6


def filled(peer: nn.Module, weights: dict[str, Tensor]) -> nn.Module:
    """The module in f64 with these weights, all of them."""
    peer.double().eval().load_state_dict({name: value.double() for name, value in weights.items()}, strict=True)
    return peer


def agree(ours: Tensor, theirs: Tensor) -> None:
    assert (ours - theirs).norm() <= BOUND * theirs.norm()
    assert theirs.norm() > 1


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


@torch.no_grad()
def test_bert(generator: torch.Generator) -> None:
    config = BertConfig(layers=1, hidden=12, heads=3, wide=20)
    w = random_weights(bert(config), generator)
    x = torch.randn(BATCH, LENGTH, 12, generator=generator).double()
    seen = torch.arange(LENGTH) < torch.tensor([[LENGTH], [LENGTH - 3]])
    linear = {
        **{f"attention.self.{name}": f"attention.{name}" for name in ("query", "key", "value")},
        "attention.output.dense": "attention.out",
        "intermediate.dense": "feed_forward.up",
        "output.dense": "feed_forward.down",
    }
    norms = {"attention.output.LayerNorm": "attention", "output.LayerNorm": "feed"}
    state = {f"{name}.weight": w[f"layer0.{ours}"].mT for name, ours in linear.items()}
    state |= {f"{name}.bias": w[f"layer0.{ours}_bias"] for name, ours in linear.items()}
    state |= {f"{name}.weight": w[f"layer0.{ours}_gain"] for name, ours in norms.items()}
    state |= {f"{name}.bias": w[f"layer0.{ours}_shift"] for name, ours in norms.items()}
    sizes = PeerBert(hidden_size=12, num_attention_heads=3, intermediate_size=20, attn_implementation="sdpa")
    theirs = filled(BertLayer(sizes), state)(x, seen[:, None, None, :])
    theirs = theirs[0] if isinstance(theirs, tuple) else theirs
    agree(reference.bert(config, w, x, seen), theirs)


@torch.no_grad()
def test_llama(generator: torch.Generator) -> None:
    config = LlamaConfig(layers=2, hidden=12, heads=6, key_heads=2, head_dim=4, wide=20)
    w = random_weights(llama(config), generator)
    x = torch.randn(BATCH, LENGTH, 12, generator=generator).double()
    names = {
        **{
            f"self_attn.{p}_proj": f"attention.{name}" for p, name in zip("qkv", ("query", "key", "value"), strict=True)
        },
        "self_attn.o_proj": "attention.out",
        **{f"mlp.{name}_proj": f"feed_forward.{name}" for name in ("gate", "up", "down")},
        "input_layernorm": "attention_gain",
        "post_attention_layernorm": "feed_gain",
    }
    state = {
        f"layers.{i}.{name}.weight": value.mT if (value := w[f"layer{i}.{ours}"]).dim() == 2 else value
        for i in range(2)
        for name, ours in names.items()
    }
    sizes = PeerLlama(
        hidden_size=12, num_attention_heads=6, num_key_value_heads=2, head_dim=4, intermediate_size=20, vocab_size=3,
        num_hidden_layers=2, rms_norm_eps=config.eps, attn_implementation="sdpa",
        rope_parameters={"rope_type": "default", "rope_theta": config.base},
    )  # fmt: skip
    peer = LlamaModel(sizes)
    peer.norm = nn.Identity()  # ours ends with the layers
    peer.embed_tokens = nn.Identity()
    agree(reference.llama(config, w, x), filled(peer, state)(inputs_embeds=x).last_hidden_state)


@torch.no_grad()
def test_moe(generator: torch.Generator) -> None:
    config = MoeConfig(hidden=12, wide=7, experts=5, chosen=2)
    w = random_weights(moe(config), generator)
    x = torch.randn(BATCH, LENGTH, 12, generator=generator).double()
    state = {
        "gate.weight": w["router"].mT,
        "experts.gate_up_proj": torch.cat((w["gate"], w["up"]), -1).mT,
        "experts.down_proj": w["down"].mT,
    }
    sizes = MixtralConfig(hidden_size=12, intermediate_size=7, num_local_experts=5, num_experts_per_tok=2)
    agree(reference.moe(config, w, x), filled(MixtralSparseMoeBlock(sizes), state)(x))


@torch.no_grad()
def test_mla(generator: torch.Generator) -> None:
    config = MlaConfig(hidden=12, heads=3, query_rank=7, rank=5, width=4, rope_width=6, value_width=8)
    w = random_weights(mla(config), generator)
    x = torch.randn(BATCH, LENGTH, 12, generator=generator).double()
    both = torch.cat((w["heads.key_up"], w["heads.value_up"].mT), 1)  # (heads, width + value_width, rank)
    state = {
        "q_a_proj.weight": w["query_down"].mT,
        "q_a_layernorm.weight": w["query_gain"],
        "q_b_proj.weight": w["query_up"].mT,
        "kv_a_proj_with_mqa.weight": torch.cat((w["latent_down"], w["rope_key"]), 1).mT,
        "kv_a_layernorm.weight": w["latent_gain"],
        "kv_b_proj.weight": both.flatten(0, 1),
        "o_proj.weight": w["out"].mT,
    }
    sizes = DeepseekV3Config(
        hidden_size=12, num_attention_heads=3, num_key_value_heads=3, q_lora_rank=7, kv_lora_rank=5, v_head_dim=8,
        qk_nope_head_dim=4, qk_rope_head_dim=6, rope_interleave=False, attn_implementation="sdpa",
        rope_parameters={"rope_type": "default", "rope_theta": config.base},
    )  # fmt: skip
    angles = DeepseekV3RotaryEmbedding(sizes)(x, torch.arange(LENGTH)[None])
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()[None, None]
    peer = filled(DeepseekV3Attention(sizes, layer_idx=0), state)
    agree(reference.mla(config, w, x), peer(x, angles, mask)[0])


def test_the_bound_can_fail() -> None:
    one = torch.ones(9).double()
    with pytest.raises(AssertionError):
        agree(one * (1 + 4e-6), one)
