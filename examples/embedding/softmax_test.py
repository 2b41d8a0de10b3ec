"""A consumer's test: a program of its own, evaluated, compiled for the CPU, and the two compared."""

# mypy: ignore-errors
# A program's annotations are shapes and placements, which are no types to a type checker.

import torch

import tilefoundry
from tilefoundry import func, module
from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf
from tilefoundry.target import CpuTarget

N = DimVar("N", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="softmax", target=CpuTarget(), topologies=(Topology("cta", G),))
class Softmax:
    """Rows of 64, one CTA to each."""

    @func
    def softmax(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in range(N) @ cta.c:
                row = tf.reshard(x[i], (64,), "smem")
                e = tf.exp(row - tf.reduce(row, (-1,), True, ReduceKind.MAX))
                out = tf.insert_slice(out, e / tf.reduce(e, (-1,), True, ReduceKind.SUM), (i, 0))
        return out


def main() -> None:
    compiled = tilefoundry.jit(Softmax, target=CpuTarget())
    for rows in (1, 5, 100):
        x = torch.randn(rows, 64, generator=torch.Generator().manual_seed(rows))
        expected = torch.softmax(x, dim=-1)
        evaluated = Softmax.softmax(x)
        torch.testing.assert_close(evaluated, expected, rtol=1e-6, atol=1e-7)
        torch.testing.assert_close(compiled(x), expected, rtol=1e-6, atol=1e-7)


if __name__ == "__main__":
    main()
