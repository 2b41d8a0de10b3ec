"""A mixture of experts: each token goes through the k experts that its router likes best, and their results are mixed.

The layer has two bodies, chosen by the number of tokens. A few tokens (decoding) *gather* the matrices of the experts
that they chose, and read no others. Many tokens (prefill) go through *all* experts in batched products, which reads
each matrix once, and those not chosen get weight zero. Both compute the same.

Source: Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer" (2017);
SwiGLU experts and normalised weights of the chosen: Jiang et al., "Mixtral of Experts" (2024).
"""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, ReduceKind, Tensor, tf
from tilefoundry.ir.core.module import Module


@dataclass(frozen=True)
class MoeConfig:
    """The sizes of Granite 3.0 1B-A400M.

    Attributes:
        few: up to how many tokens of a sequence gather their experts.
    """

    hidden: int = 1024
    wide: int = 512
    experts: int = 32
    chosen: int = 8
    few: int = 4


def moe(config: MoeConfig, dtype: str = "f32") -> Module:
    """`mix(x)`: (B, S, hidden) for x (B, S, hidden). The router works in f32."""
    E, F, N, K, FEW = config.hidden, config.wide, config.experts, config.chosen, config.few
    B, S = DimVar("B", 1, 1025), DimVar("S", 1, 131_073)
    Hidden, Router = Tensor[(B, S, E), dtype], ConstTensor[(E, N), "f32"]
    Up, Down = ConstTensor[(N, E, F), dtype], ConstTensor[(N, F, E), dtype]

    @module(entry="mix")
    class MixtureOfExperts:
        @func
        def route(x: Hidden, router: Router) -> tuple[Tensor[(B, S, K), "f32"], Tensor[(B, S, K), "i64"]]:
            best, experts = tf.topk(tf.softmax(tf.cast(x, "f32") @ router, -1), K)
            return best / tf.reduce(best, (-1,), True, ReduceKind.SUM), experts

        @func
        def mix(x: Hidden, router: Router, gate: Up, up: Up, down: Down) -> Hidden:
            pass

        @mix.specialize(DimVarRangePat("S", 1, FEW + 1))
        def gathered(x: Hidden, router: Router, gate: Up, up: Up, down: Down) -> Hidden:
            weights, experts = route(x, router)
            chosen = tf.reshape(experts, (B * S * K,))
            each = tf.reshape(tf.expand(tf.unsqueeze(x, 2), (B, S, K, E)), (B * S * K, 1, E))
            wide = tf.silu(each @ tf.index_select(gate, chosen, dim=0)) * (each @ tf.index_select(up, chosen, dim=0))
            results = tf.reshape(wide @ tf.index_select(down, chosen, dim=0), (B, S, K, E))
            return tf.squeeze(tf.cast(tf.unsqueeze(weights, 2), dtype) @ results, 2)

        @mix.specialize(DimVarRangePat("S", FEW + 1, 131_073))
        def dense(x: Hidden, router: Router, gate: Up, up: Up, down: Down) -> Hidden:
            weights, experts = route(x, router)
            shares = tf.scatter_add(tf.zeros(Tensor[(B, S, N), "f32"]), experts, weights, dim=-1)
            every = tf.reshape(x, (1, B * S, E))
            results = tf.transpose((tf.silu(every @ gate) * (every @ up)) @ down, perm=(1, 0, 2))
            return tf.reshape(tf.cast(tf.reshape(shares, (B * S, 1, N)), dtype) @ results, (B, S, E))

    return MixtureOfExperts
