"""Programs that are hard to print: what is said of them is in `round_trip_test`."""

from tests.text.calls import CALLS
from tests.text.surface_examples import EXAMPLES

PRELUDE = """\
import math
from tilefoundry import func, intrinsic, module, prim_func
from tilefoundry.dsl import *
from tilefoundry.dsl.storage import gmem, rmem, smem
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.target import CpuTarget, CudaTarget
M, N = DimVar("M", 1, 1 << 20), DimVar("N", 1, 1 << 20)
K = DimVar("K", 1, 9)
"""

PROGRAMS = {
    **EXAMPLES,
    **CALLS,
    "mesh coordinates": """\
@func(topologies=(Topology("cta", 3), Topology("thread", 8)))
def f(x: Tensor[(6, 5), "f32"]) -> Tensor[(6, 5), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c:
        first = c.c * 2 + 1
        with Mesh(("thread",), (2, 4), ("h", "l")) as m:
            odd = (m.h + c.c) % 2 == 1
            row = x[(first + m.h * 3) % 6, :] * tf.cast(c.c, "f32") + x[m.h, :]
            for i in range(m.h, c.c + 1):
                row = row + x[m.h : m.h + 1, i]
            row = tf.where(odd, row, -row)
        out = tf.zeros(Tensor[(6, 5), "f32"])
        return tf.insert_slice(tf.insert_slice(out, row, (c.c, 0)), row, (first, 0))
""",
    "same names": """\
@func
def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
    a = tf.exp(x)
    b = a
    a = tf.log(x)
    a = a + b
    x = a * y
    return x - y
""",
    "python names": """\
@func
def tf_(
    range: Tensor[(8,), "f32"], tf1: Tensor[(8,), "f32"], Tensor1: Tensor[(8,), "f32"], float: Tensor[(8,), "f32"]
) -> Tensor[(8,), "f32"]:
    max = range + tf1
    min = max * math.inf
    tile1 = min + math.nan
    return tile1 + Tensor1 * float
""",
    "members called as what is imported": """\
import tilefoundry.dsl as d
S = DimVar("func", 1, 9)
@module(entry="Mesh")
class N:
    @func
    def Mesh(tf: d.Tensor[(S,), "f32"]) -> d.Tensor[(S,), "f32"]:
        Tensor = d.tf.exp(tf)
        float = Tensor * math.inf
        return float
    @func
    def Tensor(range: d.Tensor[(N, S), "f32"]) -> d.Tensor[(N, S), "f32"]:
        for DimVar in d.tile(S, 1):
            range = range + range
        return range
    @func
    def module(x: d.Tensor[(N,), "f32"]) -> d.Tensor[(N,), "f32"]:
        return x
    @func
    def func(x: d.Tensor[(N,), "f32"]) -> d.Tensor[(N,), "f32"]:
        with d.Mesh((Topology("thread", 32),), (32,), ("t",)) as thread:
            return x
""",
    "carries of two loops in two orders": """\
@func
def f(
    a: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]
) -> tuple[Tensor[(8,), "f32"], Tensor[(8,), "f32"]]:
    for i in range(3):
        y = y
        for j in range(2):
            t = tf.exp(a)
            a, y = t, y + a
    return a, y
""",
    "tuples in tuples": """\
@func
def f(x: Tensor[(4,), "f32"]) -> tuple[Tensor[(4,), "f32"], tuple[Tensor[(2,), "f32"], Tensor[(4,), "f32"]]]:
    return x, (x[0:2], x * 2.0)
""",
    "names of loop variables": """\
@func
def g(x: Tensor[(8, 64), "f32"]) -> tuple[Tensor[(8, 32), "f32"], Tensor[(8, 32), "f32"]]:
    i = tf.exp(x) + x
    j, k = tf.split(i, axis=1, num_splits=2)
    n = tf.split(x * i, axis=1, num_splits=2)
    i, m = n
    for p in range(2):
        j = j + i
    for q in range(3):
        j = j + k
    return j, m
@func
def f(x: Tensor[(8, 64), "f32"], y: Tensor[(8, 32), "f32"]) -> Tensor[(8, 32), "f32"]:
    for i in range(3):
        for j in range(i + 1):
            x = x + x
            a, b = g(x)
            for n in range(2):
                y = y + a * b
                x = x * x
    return y
""",
    "a loop that is called twice": """\
@func
def g(x: Tensor[(99, 64), "f32", ((99, 64), (64, 1))]) -> Tensor[(8, 64), "f32"]:
    y = tf.reshard(x[0:8], Layout((8, 64), (64, 1)), "gmem")
    for i in range(3):
        for j in range(i + 1):
            y = y + tf.reshard(x[j : j + 8], Layout((8, 64), (64, 1)), "gmem")
    return y
@func
def f(
    x: Tensor[(99, 64), "f32", ((99, 64), (64, 1))], y: Tensor[(99, 64), "f32", ((99, 64), (64, 1))]
) -> Tensor[(8, 64), "f32"]:
    return g(x) + g(y) * g(x)
""",
    "loops": """\
@func
def f(x: Tensor[(M, 64), "f32"]) -> tuple[Tensor[(64,), "f32"], Tensor[(64,), "f32"]]:
    a = x[0]
    b = x[1]
    c = a
    for i in range(2, 10, 3):
        t = tf.exp(a)
        a = b + x[i]
        b = t
        for j in range(i):
            t = tf.log(x[j])
            a = a + t
        a = a + t
    return a + c, b
""",
    "tiles": """\
@func
def f(x: Tensor[(M, N), "f32"]) -> Tensor[(M, N), "f32"]:
    y = tf.zeros(Tensor[(M, N), "f32"])
    for i in tile(M, 8):
        for j in tile(N, 16):
            w = x[i, j]
            w = w + x[i + 3, j - 1]
            w = w * x[i * 1: i * 1 + 8, 0:16]
            y = tf.insert_slice(y, w, (i, j))
            y = tf.insert_slice(y, w[0], (i * 1, j))
    return y
""",
    "split": """\
@func
def f(x: Tensor[(8, 64), "f32"]) -> tuple[Tensor[(8, 32), "f32"], Tensor[(8, 32), "f32"]]:
    a, b = tf.split(x, axis=1, num_splits=2)
    p = tf.split(x, axis=1, num_splits=2)
    c, d = p
    e, unused = p
    q = (tf.exp(a),)
    return a + c * d + e + q[0] * q[0], -b - -d
""",
    "subscripts": """\
@func
def f(x: Tensor[(8, 64, N), "f32"], k: Tensor[(), "i64"]) -> Tensor[(3, 16, N), "f32"]:
    a = x[1:6:2, :32:2]
    b = x[-7:-2, 1:32:2, :N]
    return a + b[0:5:2] + x[0, 0, 0] + x[5:, 48:]
""",
    "scalars": """\
@func
def f(
    x: Tensor[(8,), "bf16"], n: Tensor[(8,), "i32"], b: Tensor[(8,), "bool"], h: Tensor[(8,), "f64"]
) -> tuple[Tensor[(8,), "bf16"], Tensor[(8,), "f64"]]:
    y = x * -0.0 + 0.1 - 1e-300 + (-math.inf)
    z = tf.where(b and True, y, -3.5)
    m = n * -3 // 2 % 5
    w = tf.where((m < 3) == b, z, z + 1.0)
    v = tf.where(not b or (m >= -3), w, tf.add(1.0, 2.0) if False else w)
    return -v, h * 1e308 + float("nan")
""",
    "index operand": """\
@func
def f(x: Tensor[(N,), "i64"]) -> Tensor[(N,), "i64"]:
    y = x
    for i in range(N // 2 + 1):
        y = y + i * 2 + tf.add(i, N)
    return y
""",
    "constraint": """\
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    with Mesh((Topology("thread", 32),), (32,), ("t",)) as t:
        y: where(layout=(8, 32 @ t.t, 2), storage="rmem", mesh=t) = tf.exp(x)
    z: where(layout=Layout((8, 64), (64, 1))) = y + y
    return z
""",
    "partial": """\
@func
def f(x: Tensor[(8, 64), "f32"], w: Tensor[(64, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
    with Mesh((Topology("thread", 32),), (4, 8), ("a", "b")) as t:
        xr = tf.reshard(x, (8, 8 @ t.b, 8), "rmem")
        wr = tf.reshard(w, (8 @ t.b, 8, 8), "rmem")
        p = xr @ wr
        q = tf.reshard(p, ((8, 8), {t.b @ P("sum")}), "rmem")
        return tf.reshard(q, ((8, 8), (8, 1)), "gmem")
""",
    "methods": """\
import os.path
import collections as several
LIMIT, WIDE = 3, [1.5, float("inf"), None]
def make(steps, kind):
    scale, places = 2.0, (several.OrderedDict, CpuTarget())
    @module
    class Stepped:
        @func
        def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
            return x * scale
        def forward(self, x, *more, last=LIMIT):
            for step in range(steps):
                x = self.f(x) + len(WIDE) + last
            return [os.path.join(str(p), kind.name) for p in places] + [lambda: several.deque((x, tf)) for _ in more]
        def plain(self):
            return self
    return Stepped
Stepped = make(4, DType.f32)
""",
    "a function that returns several values": """\
@func
def g(x: Tensor[(8, 64), "f32"]) -> tuple[Tensor[(8, 64), "f32"], Tensor[(8, 64), "f32"]]:
    a, b = tf.exp(x), tf.log(x)
    for i in range(3):
        a, b = b, a + b
    return a, b
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    with Mesh((Topology("thread", 32),), (32,), ("t",)) as t:
        y = x + x
        for j in range(2):
            c, d = g(y)
            for i in range(2):
                y = y + c * d
        return y
""",
    "levels that nothing declares, and unnamed axes": """\
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    with Mesh((Topology("thread", 32),), (32,)) as t:
        y = tf.reshard(x, (8, 32 @ t, 2), "rmem")
    with Mesh((Topology("thread", 32),), Layout((8, 4), (1, 8))) as u:
        z = tf.reshard(x, ShardLayout(Layout((8, 4, 2, 8)), (S(0), S(1)), u), "rmem")
        z = z + z
    y = tf.reshard(y, (8, 64), "gmem")
    with Mesh((Topology("thread", 32),), (32,)) as t:
        return y + tf.reshard(z, Layout((8, 64), (64, 1)), "gmem")
""",
    "a grid that the launch gives": """\
G = DimVar("G", 1, 1 << 20)
@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", G), Topology("thread", 32)))
class Grid:
    @func
    def f(x: Tensor[(M, 64), "bf16"], w: ConstTensor[(64,), "f32"]) -> Tensor[(M, 64), "bf16"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.zeros(Tensor[(M, 64), "bf16"])
            for i in tile(M, 4) @ cta.c:
                r = tf.cast(tf.reshard(x[i], (4, 32 @ t.t, 2), "rmem"), "f32") * tf.reshard(w, (32 @ t.t, 2), "rmem")
                y = tf.insert_slice(y, tf.cast(r, "bf16"), (i, 0))
        return y
    @f.converter("w")
    def _(raw: Tensor[(8, 8), "f16"], other: Tensor[(64,), "f32"]) -> Tensor[(64,), "f32"]:
        return tf.cast(tf.reshape(raw, (64,)), "f32") + other
""",
    "children on the levels of their owner": """\
THREAD = Topology("thread", 32)
@module(entry="f")
class Inner:
    @func
    def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
        with Mesh((THREAD,), (32,), ("t",)) as t:
            y = tf.reshard(x, (8, 32 @ t.t, 2), "rmem")
            return tf.reshard(y + y, (8, 64), "gmem")
@module(entry="f", topologies=(THREAD,))
class Outer:
    inner = Inner
    @func
    def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.reshard(inner(x), (8, 32 @ t.t, 2), "rmem")
            return tf.reshard(y * y, (8, 64), "gmem")
""",
    "topologies of children": """\
@module(entry="f", topologies=())
class None_:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x
@module(topologies=(Topology("cta", 4),))
class Root:
    a, b = None_, None_
    c = None_.renamed("x")
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return a(b(x))
""",
}

# Far beyond what one printed expression may nest.
_MANY = 90
PROGRAMS["deep expressions"] = f"""\\
@func
def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
    for i in range(2):
        x = {" + ".join(["tf.exp(x)"] * _MANY)}
    return {"-(" * _MANY}x{")" * _MANY}
"""
