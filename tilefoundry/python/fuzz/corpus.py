"""Valid programs that are mutated: placed ones, loops, variants, converters, children, and calls of all ops."""

from tilefoundry.python.fuzz.kernels import KERNEL_PROGRAMS

PLACED = """
from __future__ import annotations
@module(entry="attention", topologies=(Topology("cta", N), Topology("thread", 128)))
class Attention:
    @func
    def attention(q: Tensor[(M, 64), "bf16"], k: Tensor[(M, 64), "bf16"]) -> Tensor[(M, 64), "bf16"]:
        with Mesh(("cta",), (N,), ("c",)) as cta, Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
            out = tf.zeros(Tensor[(M, 64), "bf16"])
            for i in tile(M, 64) @ cta.c:
                qs = tf.reshard(q[i], (64, 64), "smem")
                cols0 = tf.reshard(tf.arange(Tensor[(64,), "i32"]), (8, 4 @ t.t, 2), "rmem")
                m = tf.reshard(tf.full_like(tf.zeros(Tensor[(64, 1), "f32"]), -1e30), (4 @ t.w, 2, 8 @ t.g, 1), "rmem")
                o = tf.reshard(tf.zeros(Tensor[(64, 64), "f32"]), (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem")
                for j in tile(min(M, i + 64), 64):
                    ks = tf.reshard(k[j], (64, 64), "smem")
                    qk = tf.matmul(qs, tf.transpose(ks, perm=(1, 0)), out_dtype="f32")
                    s = tf.reshard(qk, (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem") * 0.125
                    s = tf.where(cols0 + tf.cast(j, "i32") < tf.cast(M, "i32"), s, -1e30)
                    m2 = tf.maximum(m, tf.reduce(s, (-1,), True, ReduceKind.MAX))
                    o = o * tf.exp(m - m2) + tf.exp(s - m2)
                    m = m2
                out = tf.insert_slice(out, tf.cast(o, "bf16"), (i, 0))
            return out
"""

LAYOUTS = """
from __future__ import annotations
LEVELS = (Topology("cta", 4), Topology("thread", 128))
OUTER = Mesh((Topology("cta", 4),), Layout((4,), (1,)), ("c",))
@func(topologies=LEVELS)
def f(
    x: Tensor[(8, 128), "f32", ((8, 128), (128, 1)), "gmem"], y: Tensor[(64, 64), "f32", gmem], s: Tensor[(), "f32"]
) -> (Tensor[(8, 128), "f32"], Tensor[(64, 64), "f32"]):
    with OUTER as cta:
        with Mesh(("thread",), layout=(4, 32), names=("w", "l")) as t:
            a = tf.reshard(x, ((4 @ t.w, 2, 32 @ t.l, 4), (256, 128, 4, 1)), "smem")
            b = tf.reshard(a, (8, 128 @ (t.w, t.l)) if LEVELS else (8, 128), "rmem")
            part = tf.zeros(Tensor[(8, 128), "f32", ((8, 128 @ t.l), {t.w @ P("sum")}), "rmem"])
            whole = tf.reshard(part, (8, 128 @ t.l), "rmem")
            c = tf.reshard(b, (8, 128 @ t.l), "rmem") + whole * s
            c = c + tf.cast(t.w, "f32") - tf.cast(cta.c * 2 + t.l // 4, "f32")
        with Mesh(("thread",), (4, 32), ("w", "l"))[1:3, :] as half:
            d = tf.reshard(tf.reshard(y, (2 @ half.w, 32, 32 @ half.l, 2), "rmem"), (64, 64), "gmem")
        z: where(layout=(8, 128), storage="gmem") = tf.reshard(c, (8, 128), "gmem")
        return z, d + tf.reshard(tf.reshard(y, (64 @ cta, 64), "smem"), (64, 64), "gmem")
"""

LOOPS = """
from __future__ import annotations
K, SCALE, FLAG = 3, 0.5, True
@module(entry="f")
class Program:
    @func
    def f(
        x: Tensor[(M, 8, 16), "f32"], w: ConstTensor[(16, 4), "f32"]
    ) -> tuple[Tensor[(M, 8, 4), "f32"], Tensor[(8, 4), "bool"]]:
        half, rest = M // 2, M % (K + 1)
        y = g(x) @ w
        a, b = (y[0], y[-1, 1:8:2])
        for i in range(1, 8, 2):
            a = a + y[0, i] * SCALE if FLAG else a
        if FLAG and K > 2:
            y = y - a[2:3]
        elif not FLAG:
            y = y / 2.0
        return y, a > -SCALE and not (b[0] <= 0.0)
    @func
    def g(x: Tensor[(M, N, 16), "f32"]) -> Tensor[(M, N, 16), "f32"]:
        out = tf.zeros(Tensor[(M, N, 16), "f32"])
        for i in range(0, M, 1):
            for j in tile(N, 8):
                out = tf.insert_slice(out, tf.log(x[i, j]) + tf.reduce(x[i, j + 1], (0, -1)), (i, j, 0))
        return tf.reshape(tf.reshape(out, (N, 16, M)), (M, N, 16))
"""

PARTS = """
from __future__ import annotations
@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(M, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(M, 8), "f32"]:
        return x @ w
    @run.converter("w")
    def _w(raw: Tensor[(8, 8), "f32"], scale: Tensor[(1, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
        return tf.transpose(raw, perm=(1, 0)) * scale
K = DimVar("K", 1, 9)
@module(entry="block", target=CudaTarget("nvidia.h200_sxm"))
class Block:
    proj = Proj
    layers = (Proj.renamed("a"), Proj.renamed("b"))
    @func
    def act(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        pass
    @act.specialize(DimVarRangePat("K", 1, 5))
    def few(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        return tf.exp(x)
    @act.specialize(DimVarRangePat("K", 5, 9))
    def many(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        return x * x
    @func
    def block(x: Tensor[(4, 8), "f32"]) -> Tensor[(4, 8), "f32"]:
        y = x
        for i, layer in enumerate(layers):
            y = layer(y) + x[i : i + 1]
        return act(proj(x=y)) + x
    def forward(self, x, steps=1):
        return self.block(x)
"""

DRAFTS = """
from __future__ import annotations
K = DimVar("K", 1, 9)
@func
def act(x: Tensor[(K, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(K, 8), "f32"]:
    pass
@act.specialize(DimVarRangePat("K", 1, 5))
def few(x: Tensor[(K, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(K, 8), "f32"]:
    return tf.exp(x) * w
@act.specialize(DimVarRangePat("K", 5, 9))
def many(x: Tensor[(K, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(K, 8), "f32"]:
    return x * w
@act.converter("w")
def _(raw: Tensor[(8, 1), "f32"]) -> Tensor[(8,), "f32"]:
    return tf.reshape(raw, (8,))
def make(width, scale):
    @func
    def f(x: Tensor[(width, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(width, 8), "f32"]:
        return act(x, w) * scale + later
    return f
later = 2.0
f = make(3, 0.5)
@module(entry="f")
class Program:
    f = f
    act = act
    @func
    def g(x: Tensor[(K, 8), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(K, 8), "f32"]:
        for i in range(2):
            x = act(x + act(x, w), w)
        return x
"""

ELEMENTWISE = """
from __future__ import annotations
@func
def f(
    x: Tensor[(4, M), "f32"], y: Tensor[(4, 1), "f32"], n: Tensor[(4, M), "i32"], b: Tensor[(M,), "bool"]
) -> (Tensor[(4, M), "f32"], Tensor[(4, M), "i32"], Tensor[(4, M), "bool"]):
    a = tf.abs(tf.neg(x)) + tf.rsqrt(tf.sqrt(tf.exp(tf.log(tf.square(y) + 1.0)))) - tf.sigmoid(tf.tanh(tf.relu(x)))
    a = tf.silu(a) * tf.gelu(a, approximate="none") + tf.softplus(tf.clamp(a, -1.0, max_val=1.0))
    a = tf.sin(a) + tf.cos(a) + tf.erf(tf.ceil(a)) + tf.floor(tf.round(a)) + tf.log1p(tf.exp2(tf.log2(a)))
    a = tf.maximum(tf.minimum(a, 2.0), tf.pow(y, x)) / tf.where(tf.isnan(a) or tf.isinf(a), 0.5, x)
    k = tf.floor_div(n, 3) % 5 + n // 2 * tf.mod(n, 7)
    return tf.where(b and tf.cmp_lt(k, n), a, tf.full_like(x, 1.0)), k, tf.logical_not(n == k)
"""

MOVEMENT = """
from __future__ import annotations
@func
def f(
    x: Tensor[(4, 6, 8), "f32"], i: Tensor[(3,), "i64"], g: Tensor[(4, 6, 2), "i32"]
) -> (Tensor[(3, 8), "f32"], Tensor[(2, 6), "i64"], Tensor[(4, 6, 8), "f32"]):
    a, b = tf.split(tf.transpose(x, perm=(2, 0, 1)), 0, 2)
    c = tf.concat(a, b, axis=0) + tf.reshape(tf.stack(a, b, axis=0), (8, 4, 6))
    d = tf.squeeze(tf.unsqueeze(c, 0), 0) * tf.expand(tf.reshape(x, (8, 4, 6))[:, :1], (8, 4, 6))
    e = tf.flip(tf.pad(d, (0, 2, 1, 1), 0.0), (1,))[:, 1:5, :6]
    r = tf.repeat_interleave(tf.reshape(tf.index_select(e, i, 1), (3, 6, 8)), 2, 0)
    v, w = tf.topk(tf.reduce(r, (2,), False, ReduceKind.SUM), 2, axis=0)
    s = tf.scatter_add(x, g, tf.gather(x, g, 2), 2)
    s = tf.index_add(s, i, x[:3], 0) + tf.index_copy(s, i, x[1:], dim=0) + tf.cumsum(s, axis=1)
    o, p = tf.sort(s, axis=-1, descending=True)
    rows = tf.reduce(r, (0, 1), True)[0] + tf.cast(tf.argmax(o, axis=0)[:1], "f32") * 0.5
    return tf.expand(rows, (3, 8)), w, o * tf.cast(tf.argmin(p, axis=1)[0, 0], "f32")
"""

LAYER = """
from __future__ import annotations
B = DimVar("B", 1, 9)
@func
def layer(
    x: Tensor[(B, 16, 64), "bf16"], cos: Tensor[(16, 16), "bf16"], sin: Tensor[(16, 16), "bf16"],
    at: Tensor[(16,), "i64"], norm: ConstTensor[(64,), "bf16"], w: ConstTensor[(64, 64), "bf16"],
    cache: Tensor[(B, 32, 4, 16), "bf16"], start: Tensor[(), "i32"], count: Tensor[(), "i32"],
) -> Tensor[(B, 16, 64), "bf16"]:
    h = tf.rms_norm(x, norm, 1e-5) @ w
    h = tf.layer_norm(tf.softmax(h, axis=-1), norm, norm, axis=-1, eps=1e-5)
    q = tf.reshape(h, (B, 16, 4, 16))
    q, k = tf.rope(q, q, cos, sin, at)
    cache = tf.cache_update(cache, start, count, k)
    q, k = tf.transpose(q, perm=(0, 2, 1, 3)), tf.transpose(cache, perm=(0, 2, 1, 3))
    o = tf.attention(q, k, k, scale=0.25, causal=True)
    codes, scales = tf.quant(tf.reshape(x, (B, 8, 128)))
    return x + tf.reshape(tf.transpose(o, perm=(0, 2, 1, 3)), (B, 16, 64)) * tf.cast(scales[:, 0:1], "bf16")
"""

PROGRAMS = {
    **KERNEL_PROGRAMS,
    "placed": PLACED,
    "layouts": LAYOUTS,
    "loops": LOOPS,
    "parts": PARTS,
    "drafts": DRAFTS,
    "elementwise": ELEMENTWISE,
    "movement": MOVEMENT,
    "layer": LAYER,
}
