"""The model's twin: the same steps with torch's own kernels."""

# mypy: ignore-errors
# (a twin's attributes are made by its decorator)

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from examples.chat.config import Config
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import RuntimeModule, runtime_func, runtime_module


def torch_layer(config: Config, layer: Module) -> type[RuntimeModule]:
    """The twin of one layer."""

    def norm(x, weight):
        return functional.rms_norm(x, weight.shape, weight, config.eps)

    def turn(x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    @runtime_module(layer)
    class TorchLayer:
        @runtime_func
        def attend(self, x, position, mask, cos, sin, keys, values, before, q, k, v, q_norm, k_norm, out, after):
            y, at = norm(x, before), position.reshape(1).long()
            cos, sin = cos[at], sin[at]
            heads = (1, 1, -1, config.head_dim)
            query = turn(norm((y @ q).view(heads), q_norm), cos, sin)
            keys = keys.index_copy(1, at, turn(norm((y @ k).view(heads), k_norm), cos, sin))
            values = values.index_copy(1, at, (y @ v).view(heads))
            mixed = functional.scaled_dot_product_attention(
                *(t.transpose(1, 2) for t in (query, keys, values)), attn_mask=mask, enable_gqa=True
            )
            return x + norm(mixed.reshape(1, -1) @ out, after), keys, values

        @runtime_func
        def feed(self, x, before_feed, gate, up, down, after_feed):
            y = norm(x, before_feed)
            return x + norm((functional.gelu(y @ gate, approximate="tanh") * (y @ up)) @ down, after_feed)

    return TorchLayer


def torch_gemma(config: Config, model: Module) -> Callable[[], RuntimeModule]:
    """The twin of the whole model."""
    layer = torch_layer(config, model.modules[0])
    layers = type("Layers", (), {f"layer{i}": layer for i in range(config.layers)})

    @runtime_module(model)
    class TorchGemma(layers):
        @runtime_func
        def embed(self, token, table):
            return functional.embedding(token, table) * config.hidden**0.5

        @runtime_func
        def logits(self, x, final, table):
            return table @ functional.rms_norm(x, final.shape, final, config.eps)[0]

    return TorchGemma
