"""transformers' own Gemma 3 on the tensors of a GGUF checkpoint, to compare with."""

# mypy: ignore-errors
# (transformers' models are untyped)

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from examples.chat.config import Config

_NAMES = {
    "attn_norm": "input_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def peer(config: Config, tensors: Mapping[str, Tensor]) -> Gemma3ForCausalLM:
    """transformers' model in f32, with every weight taken from `tensors`."""
    model = Gemma3ForCausalLM(
        Gemma3TextConfig(
            vocab_size=config.vocabulary,
            hidden_size=config.hidden,
            intermediate_size=config.wide,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.key_heads,
            head_dim=config.head_dim,
            query_pre_attn_scalar=config.head_dim,
            max_position_embeddings=config.positions,
            rms_norm_eps=config.eps,
            sliding_window=config.window,
            layer_types=["full_attention" if config.sees_all(i) else "sliding_attention" for i in range(config.layers)],
            rope_parameters={
                "full_attention": {"rope_type": "default", "rope_theta": config.global_base},
                "sliding_attention": {"rope_type": "default", "rope_theta": config.local_base},
            },
            attn_implementation="eager",
        )
    )
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"]}
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    state["model.norm.weight"] = tensors["output_norm.weight"] - 1
    for i in range(config.layers):
        for ours, theirs in _NAMES.items():
            value = tensors[f"blk.{i}.{ours}.weight"]
            # transformers multiplies by 1 + weight; a GGUF file holds the sum.
            state[f"model.layers.{i}.{theirs}.weight"] = value - 1 if value.ndim == 1 else value
    model.load_state_dict(state, strict=True)
    return model.eval()


def peer_logits(model: Gemma3ForCausalLM, ids: Sequence[int]) -> Tensor:
    """(tokens, vocabulary), of all tokens in one pass."""
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0]
