"""The examples that the reference gives of the language, unchanged."""

EXAMPLES = {
    "ex1": """\
@module(entry="scale_rows", target=CudaTarget("nvidia.h200_sxm"),
        topologies=(Topology("cta", 64),))
class ScaleRows:
    @func
    def scale_rows(x: Tensor[(64, 256), "f32"]) -> Tensor[(64, 256), "f32"]:
        with Mesh(("cta",), (64,), ("r",)) as cta:
            reg = tf.reshard(x, (64 @ cta.r, 256), "rmem")
            return tf.reshard(reg * reg, (64 @ cta.r, 256), "gmem")
""",
    "ex2": """\
@func(topologies=(Topology("thread", 8 * 32),))
def row_mean(x: Tensor[(1, 2048), "f32"]) -> Tensor[(1, 1), "f32"]:
    with Mesh(("thread",), (8, 32), ("w", "l")) as m:
        r = tf.reshard(x, (1, 2048 @ (m.w, m.l)), "rmem")
        return tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.MEAN), (1, 1), "gmem")
""",
    "ex3": """\
@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(1, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return tf.matmul(x, w)
    @run.converter("w")
    def _w(raw_w: Tensor[(8, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
        return tf.transpose(raw_w, perm=(1, 0))

@module(entry="block", target=CudaTarget("nvidia.h200_sxm"))
class Block:
    proj = Proj                                   # child named by the attribute
    layers = (Proj.renamed("0"), Proj.renamed("class"), Proj.renamed("a.b"))

    @func
    def block(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return proj(x) + x + layers[0](x) + layers[2](proj(x))
    def forward(self, x, steps):                  # plain Python method, shared with the twin
        for _ in range(steps): x = self.block(x)
        return x + math.pi
""",
    "ex4": """\
N = DimVar("N", 1, 9)
@module(entry="f")
class Disp:
    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]: pass
    @f.specialize(DimVarRangePat("N", 1, 5))
    def small(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]: return x * x
    @f.specialize(DimVarRangePat("N", 5, 9))
    def big(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]: return x + x
""",
}
