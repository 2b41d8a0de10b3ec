"""The source text of a decoder: a Module with one child Module for each layer, as a person would write it out."""

HEADS, KV_HEADS, WIDTH, HIDDEN, SEQUENCE = 32, 8, 64, 5632, 128
MODEL = HEADS * WIDTH

_HEAD = f"""\
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.target import CudaTarget

B = DimVar("B", 1, 65)
MODEL, HEADS, KV_HEADS, WIDTH, HIDDEN, S = {MODEL}, {HEADS}, {KV_HEADS}, {WIDTH}, {HIDDEN}, {SEQUENCE}

"""

_LAYER = """
@module(entry="layer")
class Layer{k}:
    @func
    def layer(
        x: Tensor[(B, S, MODEL), "bf16"],
        cos: Tensor[(S, WIDTH), "bf16"],
        sin: Tensor[(S, WIDTH), "bf16"],
        positions: Tensor[(S,), "i64"],
        attention_norm: ConstTensor[(MODEL,), "bf16"],
        w_q: ConstTensor[(MODEL, HEADS * WIDTH), "bf16"],
        w_k: ConstTensor[(MODEL, KV_HEADS * WIDTH), "bf16"],
        w_v: ConstTensor[(MODEL, KV_HEADS * WIDTH), "bf16"],
        w_o: ConstTensor[(HEADS * WIDTH, MODEL), "bf16"],
        mlp_norm: ConstTensor[(MODEL,), "bf16"],
        w_gate: ConstTensor[(MODEL, HIDDEN), "bf16"],
        w_up: ConstTensor[(MODEL, HIDDEN), "bf16"],
        w_down: ConstTensor[(HIDDEN, MODEL), "bf16"],
    ) -> Tensor[(B, S, MODEL), "bf16"]:
        h = tf.rms_norm(x, attention_norm, 1e-5)
        q = tf.reshape(h @ w_q, (B, S, HEADS, WIDTH))
        k = tf.reshape(h @ w_k, (B, S, KV_HEADS, WIDTH))
        v = tf.reshape(h @ w_v, (B, S, KV_HEADS, WIDTH))
        q, k = tf.rope(q, k, cos, sin, positions)
        o = tf.attention(queries(q), keys(k), keys(v), scale=0.125, causal=True)
        x = x + tf.reshape(tf.transpose(o, perm=(0, 2, 1, 3)), (B, S, MODEL)) @ w_o
        return x + swiglu(tf.rms_norm(x, mlp_norm, 1e-5), w_gate, w_up, w_down)

    @func
    def queries(x: Tensor[(B, S, HEADS, WIDTH), "bf16"]) -> Tensor[(B, HEADS, S, WIDTH), "bf16"]:
        return tf.transpose(x, perm=(0, 2, 1, 3))

    @func
    def keys(x: Tensor[(B, S, KV_HEADS, WIDTH), "bf16"]) -> Tensor[(B, KV_HEADS, S, WIDTH), "bf16"]:
        return tf.transpose(x, perm=(0, 2, 1, 3))

    @func
    def swiglu(
        x: Tensor[(B, S, MODEL), "bf16"],
        gate: Tensor[(MODEL, HIDDEN), "bf16"],
        up: Tensor[(MODEL, HIDDEN), "bf16"],
        down: Tensor[(HIDDEN, MODEL), "bf16"],
    ) -> Tensor[(B, S, MODEL), "bf16"]:
        return (tf.silu(x @ gate) * (x @ up)) @ down
"""

_MODEL = """
@module(entry="decoder", target=CudaTarget("nvidia.h200_sxm"))
class Decoder:
    layers = ({layers},)

    @func
    def decoder(
        x: Tensor[(B, S, MODEL), "bf16"],
        cos: Tensor[(S, WIDTH), "bf16"],
        sin: Tensor[(S, WIDTH), "bf16"],
        positions: Tensor[(S,), "i64"],
        norm: ConstTensor[(MODEL,), "bf16"],
    ) -> Tensor[(B, S, MODEL), "bf16"]:
{calls}
        return tf.rms_norm(x, norm, 1e-5)
"""


def decoder_source(layers: int) -> str:
    """The text of a Python file that defines `Decoder`, with every layer written out."""
    names = ", ".join(f'Layer{k}.renamed("layer{k}")' for k in range(layers))
    calls = "\n".join(f"        x = layers[{k}](x, cos, sin, positions)" for k in range(layers))
    return _HEAD + "".join(_LAYER.format(k=k) for k in range(layers)) + _MODEL.format(layers=names, calls=calls)
