"""Kernels that are hard to print; they follow `PRELUDE` of `programs`."""

from tilefoundry.python.testing import EX5

KERNELS = {
    "ex5": f"""\
{EX5}\
@module(entry="host")
class Both:
    dev = dev
    host = host
""",
    "integers of two widths": """\
@prim_func
def k(a: Tensor[(N, 8), "f32"], o: Tensor[(N, 8), "f32"], n: Tensor[(), "i32"]):
    with Mesh((Topology("thread", 32),), (32,), ("t",)) as m:
        for i in range(m.t, a.shape[0], 32):
            T.copy(T.tensor_view(a, i, 0, shape=(1, 8)), T.tensor_view(o, i, 0, shape=(1, 8)))
        for j in range(8):
            for i in range(n + j, max(a.shape[0], j), n):
                row = j * 32 + m.t
                if row + 1 < a.shape[0] // n:
                    T.copy(T.tensor_view(a, row, 0, shape=(1, 8)), T.tensor_view(o, row, 0, shape=(1, 8)))
""",
    "statements": """\
@prim_func
def k(a: Tensor[(4,), "i32"], o: Tensor[(4,), "i32"], output_count: Tensor[(), "i32"]):
    n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
    T.fill(n, 0)
    limit = output_count * 2
    old = limit
    limit = limit + 1
    while n < limit:
        T.binary(n, 1, n, kind=BinaryKind.ADD)
        if n == 7 and limit > 8 and not (old >= n):
            return
        elif n != -1:
            T.copy(a, o)
        else:
            pass
    for i in range(limit):
        j = i + 1
        for k in range(j, 2 * limit, j):
            T.fill(n, -3)
        if tf.cast(j, "f32") * 0.5 < tf.exp(-1.0):
            T.abort("too \\"small\\"")
""",
    "views": """\
@prim_func
def k(a: Tensor[(64, 32), "bf16"], o: Tensor[(64, 32), "bf16"]):
    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        tile = T.alloc_tensor(Tensor[(4, 32), "bf16", "smem"])
        part = T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l))
        T.copy(T.tensor_view(a, 0, 0, shape=(4, 32)), T.tensor_view(o, 0, 0, shape=(4, 32)))
        for i in range(0, 64, 4):
            window = T.tensor_view(a, i, 0, layout=(4 @ m.w, 32 @ m.l), shape=(4, 32))
            T.copy_async(window, part)
            T.cp_async_commit()
            T.cp_async_wait(n=0)
            T.sync(m)
            if m.w < 2:
                T.copy(T.tensor_view(T.ptr_of(tile), 32, shape=(3, 32)), T.tensor_view(o, i, 0, shape=(3, 32)))
            with m[0:2] as front:
                T.sync(front)
""",
    "extents": """\
@prim_func
def k(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    for i in range(a.shape[0]):
        T.fill(o, 1.0)
    for i in range(o_shape_0 // 2 + 1):
        T.fill(o, math.nan)
    for i in range(a.shape[1]):
        T.fill(o, -0.0)
""",
    "a module of kernels": """\
@intrinsic
def elsewhere(x):
    T.fill(x, 0.0)
@module(entry="host", target=CudaTarget(), topologies=(Topology("cta", 4), Topology("thread", 128)))
class Kernels:
    @prim_func(target=CpuTarget())
    def host(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
        launch(dev, a, o, grid=4, block=128, dynamic_smem=16)
    @prim_func(inplace={"o": "a"})
    def dev(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
        with Mesh(("cta",), (4,), ("c",)) as c, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            elsewhere(o)
            double(o)
            T.sync(t)
    @prim_func
    def double(o: Tensor[(4, 32), "f32"]):
        T.binary(o, o, o, kind=BinaryKind.ADD)
""",
    "dispatch": """\
R = DimVar("R", 1, 9)
@prim_func
def small(a: Tensor[(R, 32), "f32"], o: Tensor[(R, 32), "f32"]):
    T.fill(o, 1.0)
@prim_func
def large(a: Tensor[(R, 32), "f32"], o: Tensor[(R, 32), "f32"]):
    small(a, o)
@prim_func
def f(a: Tensor[(R, 32), "f32"], o: Tensor[(R, 32), "f32"]):
    T.dispatch("f", a.shape[0], (DimVarRangePat("R", 1, 5), small), (DimVarRangePat("R", 5, 9), large),
               args=(a, o), otherwise="R is above 8")
""",
}
