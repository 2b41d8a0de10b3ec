"""The models side by side: what each is called with, and what plain torch says to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from examples.models import reference
from examples.models.bert import BertConfig, bert
from examples.models.llama import LlamaConfig, llama
from examples.models.mla import MlaConfig, mla
from examples.models.moe import MoeConfig, moe
from tilefoundry import evaluate
from tilefoundry.ir.core.module import LoadedModule, Module


@dataclass(frozen=True)
class Model:
    """One model of given sizes.

    Attributes:
        title: what it is, for a table.
        hidden: the width of its tokens.
        build: the Module, by the dtype of its weights and activations.
        state: what the entry takes after tokens x (B, S, hidden) that begin a sequence: a mask; a position and caches.
        exact: what plain torch gives in f64, (B, S, hidden), for weights and such tokens.
    """

    title: str
    hidden: int
    build: Callable[[str], Module]
    state: Callable[[Tensor], tuple[Tensor, ...]]
    exact: Callable[[reference.Weights, Tensor], Tensor]

    def run(self, loaded: LoadedModule, x: Tensor, precision: str = "declared") -> Tensor:
        """What the evaluator gives, (B, S, hidden), for tokens x (B, S, hidden) that begin a sequence."""
        result = evaluate(loaded, x, *self.state(x), precision=precision)
        y = result[0] if isinstance(result, tuple) else result
        assert isinstance(y, Tensor)
        return y


def bert_model(title: str, config: BertConfig) -> Model:
    """BERT; sequence b of a batch ends with b tokens of padding."""

    def seen(x: Tensor) -> Tensor:
        lengths = x.shape[1] - torch.arange(x.shape[0])
        return torch.arange(x.shape[1]) < lengths[:, None]

    return Model(
        title,
        config.hidden,
        lambda dtype: bert(config, dtype),
        lambda x: (seen(x),),
        lambda weights, x: reference.bert(config, weights, x, seen(x)),
    )


def llama_model(title: str, config: LlamaConfig) -> Model:
    """Llama; the caches have room for the given tokens."""

    def caches(x: Tensor) -> tuple[Tensor, ...]:
        shape = (config.layers, *x.shape[:2], config.key_heads, config.head_dim)
        return _position(0), x.new_zeros(shape), x.new_zeros(shape)

    return Model(
        title,
        config.hidden,
        lambda dtype: llama(config, dtype),
        caches,
        lambda weights, x: reference.llama(config, weights, x),
    )


def moe_model(title: str, config: MoeConfig) -> Model:
    """A mixture of experts, which has no state."""
    return Model(
        title,
        config.hidden,
        lambda dtype: moe(config, dtype),
        lambda x: (),
        lambda weights, x: reference.moe(config, weights, x),
    )


def mla_model(title: str, config: MlaConfig) -> Model:
    """Latent attention; the caches have room for the given tokens."""

    def caches(x: Tensor) -> tuple[Tensor, ...]:
        return _position(0), *(x.new_zeros(*x.shape[:2], 1, width) for width in (config.rank, config.rope_width))

    return Model(
        title,
        config.hidden,
        lambda dtype: mla(config, dtype),
        caches,
        lambda weights, x: reference.mla(config, weights, x),
    )


def layers() -> tuple[Model, ...]:
    """One layer of each, of the sizes of a released model."""
    return (
        bert_model("BERT-base layer", BertConfig(layers=1)),
        llama_model("Llama 3.2 1B layer", LlamaConfig(layers=1)),
        moe_model("Granite 3.0 1B-A400M experts", MoeConfig()),
        mla_model("MiniCPM3 4B latent attention", MlaConfig()),
    )


def _position(at: int) -> Tensor:
    return torch.tensor(at, dtype=torch.int32)
