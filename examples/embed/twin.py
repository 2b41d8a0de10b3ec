"""The encoder's twin: the same weights under torch's own kernels."""

# mypy: ignore-errors
# (a twin's attributes are made by its decorator)

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

from examples.embed.program import EPS, HEAD_DIM, HEADS, LAYERS, Attention, Embeddings, Encoder, FeedForward, Layer
from tilefoundry.runtime import RuntimeModule, runtime_func, runtime_module


def _norm(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], gain, shift, EPS)


@runtime_module(Embeddings)
class TorchEmbeddings:
    @runtime_func
    def embed(self, ids, words, positions, types, gain, shift):
        return _norm(functional.embedding(ids, words) + positions[: len(ids)] + types[0], gain, shift)


@runtime_module(Attention)
class TorchAttention:
    @runtime_func
    def attend(self, x, qkv, qkv_bias, out, out_bias, gain, shift):
        q, k, v = (
            (x @ w + b).view(len(x), HEADS, HEAD_DIM).transpose(0, 1) for w, b in zip(qkv, qkv_bias, strict=True)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(x.shape)
        return _norm(x + functional.linear(mixed, out.T, out_bias), gain, shift)


@runtime_module(FeedForward)
class TorchFeedForward:
    @runtime_func
    def feed(self, x, up, up_bias, down, down_bias, gain, shift):
        wide = functional.gelu(functional.linear(x, up.T, up_bias))
        return _norm(x + functional.linear(wide, down.T, down_bias), gain, shift)


@runtime_module(Layer)
class TorchLayer:
    attention = TorchAttention
    feed_forward = TorchFeedForward

    @runtime_func
    def layer(self, x):
        return self.feed_forward(self.attention(x))


class _Layers:
    """One class for each of the equal layers."""


for _i in range(LAYERS):
    setattr(_Layers, f"layer{_i}", TorchLayer)


@runtime_module(Encoder)
class TorchEncoder(_Layers):
    embeddings = TorchEmbeddings

    @runtime_func
    def pool(self, x):
        return functional.normalize(x.mean(0), dim=0)


TORCH_ENCODER: Callable[[], RuntimeModule] = TorchEncoder
