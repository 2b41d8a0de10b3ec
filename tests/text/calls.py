"""Programs whose functions call each other; they follow `PRELUDE` of `programs`."""

CALLS = {
    "helpers": """\
@func
def g(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    t = tf.exp(x)
    return t * t
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    t = g(x)
    u = g(t)
    return g(u) + t
""",
    "calls that a run decides": """\
def made():
    @func
    def outside(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
        pass
    @outside.specialize(DimVarRangePat("K", 1, 5))
    def outside_low(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
        return x * x
    @outside.specialize(DimVarRangePat("K", 5, 9))
    def outside_high(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
        return x + x
    @module(entry="run")
    class Child:
        @func
        def run(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            pass
        @run.specialize(DimVarRangePat("K", 1, 9))
        def every(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            return outside(x) * 0.5
    @module(entry="f")
    class N:
        child = Child
        @func
        def f(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            y = inside(x) + 1.0
            for i in range(2):
                y = outside(y) - y
            return inside(outside(child(y)))
        @func
        def inside(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            pass
        @inside.specialize(DimVarRangePat("K", 1, 3))
        def tiny(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            return x * 10.0
        @inside.specialize(DimVarRangePat("K", 3, 9))
        def large(x: Tensor[(K,), "f32"]) -> Tensor[(K,), "f32"]:
            return outside(x) - x
    return N
N = made()
""",
    "helper in mesh": """\
@func
def g(x: Tensor[(64,), "f32"]) -> Tensor[(64,), "f32"]:
    t = tf.exp(x)
    return t * t
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    with Mesh((Topology("cta", 4),), (4,), ("c",)) as cta, Mesh((Topology("thread", 32),), (32,), ("t",)) as t:
        y = tf.zeros(Tensor[(8, 64), "f32"])
        for i in range(8) @ cta.c:
            r = tf.reshard(x[i], (32 @ t.t, 2), "rmem")
            y = tf.insert_slice(y, g(r), (i, 0))
    return y
""",
    "helper on a window that moves": """\
@func
def g(x: Tensor[(4, 64), "f32"]) -> Tensor[(4, 64), "f32"]:
    with Mesh((Topology("thread", 32),), (32,), ("t",)) as t:
        return tf.exp(tf.reshard(x, (4, 32 @ t.t, 2), "rmem"))
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
    s = tf.reshard(x, Layout((8, 64), (64, 1)), "smem")
    out = tf.zeros(Tensor[(8, 64), "f32"])
    for i in range(2):
        out = tf.insert_slice(out, g(s[i * 4 : i * 4 + 4]), (i * 4, 0))
    return out
""",
    "helper that takes an index": """\
@func
def g(x: Tensor[(8, 64), "f32"], i: Tensor[(), "i64"]) -> Tensor[(4, 64), "f32"]:
    s = tf.reshard(x, Layout((8, 64), (64, 1)), "smem")
    return tf.exp(s[i : i + 4])
@func
def f(x: Tensor[(8, 64), "f32"], n: Tensor[(), "i64"]) -> Tensor[(8, 64), "f32"]:
    out = tf.zeros(Tensor[(8, 64), "f32"])
    for k in range(2):
        out = tf.insert_slice(out, g(x, k) + g(x, n), (k * 4, 0))
    return out
""",
    "helper with loop": """\
@func
def g(x: Tensor[(8, 64), "f32"]) -> Tensor[(64,), "f32"]:
    acc = tf.zeros(Tensor[(64,), "f32"])
    for i in range(8):
        acc = acc + x[i]
    return acc
@func
def f(x: Tensor[(4, 8, 64), "f32"]) -> Tensor[(64,), "f32"]:
    acc = tf.zeros(Tensor[(64,), "f32"])
    for i in range(4):
        acc = acc + g(x[i])
    return acc
""",
}
