"""A consumer's test: a program of its own, evaluated, compiled for the CPU, and the two compared."""

# mypy: ignore-errors
# A program's annotations are shapes and placements, which are no types to a type checker.

import torch

import tilefoundry
from tilefoundry import func, module
from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.target import CpuTarget

N = DimVar("N", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="softmax", target=CpuTarget(), topologies=(Topology("cta", G), Topology("thread", 8)))
class Softmax:
    """Softmax of rows of 64; a CTA takes 8 rows at a time, one to each thread."""

    @func
    def softmax(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8,), ("t",)) as t:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in tile(N, 8) @ cta.c:
                rows = tf.reshard(x[i], (8 @ t.t, 64), "rmem")
                e = tf.exp(rows - tf.reduce(rows, (-1,), True, ReduceKind.MAX))
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
