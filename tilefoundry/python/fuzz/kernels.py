"""Valid kernels that are mutated: every statement of the kernel language, calls, launches, dispatches, intrinsics."""

KERNELS = """
from __future__ import annotations
SCALE, FLAG = 2.0, True
THREADS = Topology("thread", 128)
@intrinsic
def soft(x, *, bound):
    T.relu(x, x)
    T.clamp(x, x, min_val=0.0, max_val=bound)
@prim_func(target=CudaTarget())
def rows(a: Tensor[(N, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(N, 32), "f32"]):
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m, m[0:2] as front:
        n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        first = T.program_id(level="cta") * 4 + m.w
        for row in range(first, N, T.program_dim(level="cta") * 4):
            T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.fill(n, 0)
            while n < times:
                T.binary(r, SCALE, r, kind=BinaryKind.MUL)
                T.binary(n, 1, n, kind=BinaryKind.ADD)
            soft(r, bound=8.0)
            if row % 2 == 1 and not times > 3:
                T.unary(r, r, kind=UnaryKind.NEG)
            elif FLAG:
                T.binary(r, 0.5, r, kind=BinaryKind.ADD)
            else:
                return
            T.sync(front)
            T.copy(r, T.tensor_view(o, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
@prim_func(target=CpuTarget())
def host(a: Tensor[(N, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(N, 32), "f32"]):
    launch(rows, a, times, o, grid=(min(ceildiv(a.shape[0], 4), 3), 1, 1), block=(128,), dynamic_smem=64)
@prim_func
def pick(a: Tensor[(N, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(N, 32), "f32"]):
    T.dispatch("rows", a.shape[0], (DimVarRangePat("N", 1, 5), rows), (DimVarRangePat("N", 5, 9), rows),
               args=(a, times, o), otherwise="no variant")
    if a_shape_0 > 9:
        T.abort("too many rows")
    else:
        rows(a, times, o)
@prim_func
def levelled(x: Tensor[(N, 8), "f32"], y: Tensor[(N, 8), "f32"]):
    with Mesh((THREADS,), (128,), ("t",)) as m:
        for i in range(m.t, x.shape[0], 128):
            if i + 1 < x.shape[0] and min(i, x.shape[0]) >= m.t:
                T.copy(T.tensor_view(x, i, 0, shape=(1, 8)), T.tensor_view(y, i, 0, shape=(1, 8)))
"""

TILES = """
from __future__ import annotations
@module(entry="f", topologies=(Topology("cta", 4), Topology("thread", 32)))
class Program:
    @prim_func(output_count=2, inplace={"p": "x"})
    def f(
        x: Tensor[(64, 64), "bf16"], w: Tensor[(64,), "bf16"], o: Tensor[(64, 1), "f32"], p: Tensor[(64, 64), "bf16"]
    ):
        with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            tile = T.alloc_tensor(Tensor[(16, 64), "bf16", "smem"])
            part = T.tensor_view(tile, layout=(16, 32 @ t.t, 2))
            T.copy_async(T.tensor_view(x, cta.c * 16, 0, shape=(16, 64), layout=(16, 32 @ t.t, 2)), part)
            T.cp_async_commit()
            T.cp_async_wait(n=0)
            T.sync(t)
            r = T.alloc_tensor(TensorType((16, 64), DType.f32, ShardLayout(
                Layout((16, 32, 2), (2, 0, 1)), (S(1),), t), StorageKind.RMEM))
            T.cast(part, r)
            s = T.alloc_tensor(TensorType((16, 1), DType.f32, ShardLayout(
                Layout((16, 1), (1, 0)), (B(),), t), StorageKind.RMEM))
            T.reduce(r, s, axes=(1,), kind=ReduceKind.SUM)
            g(tile, w)
            lane = t.t
            for k in range(0, 16, 2):
                if lane == k:
                    T.copy(s, T.tensor_view(o, cta.c * 16, 0, shape=(16, 1), layout=ShardLayout(
                        Layout((16, 1), (1, 1)), (B(),), t)))
            q = T.ptr_of(p)
            T.fill(T.tensor_view(q, 64, shape=(1, 64)), 0.0)
    @prim_func
    def g(x: Tensor[(16, 64), "bf16", "smem"], w: Tensor[(64,), "bf16"]):
        T.rms_norm(x, w, x, eps=1e-5)
        T.where(True, x, x, x)
"""

MMA = """
from __future__ import annotations
@prim_func
def k(o: Tensor[(16, 8), "f32"]):
    with Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("t", "g")) as m:
        c = T.alloc_tensor(Tensor[(16, 8), "f32", ShardLayout(
            Layout((2, 4, 8, 2), (1, 2, 8, 64)), (S(1), S(2)), m), "rmem"])
        a = T.alloc_tensor(Tensor[(16, 16), "bf16", ShardLayout(
            Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)), (S(1), S(3)), m), "rmem"])
        b = T.alloc_tensor(Tensor[(16, 8), "bf16", ShardLayout(
            Layout((8, 2, 4, 2), (1, 8, 16, 64)), (S(2), S(0)), m), "rmem"])
        T.iota(0.0, c, axis=1, step=1)
        T.mma(c, a, b, atom=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN)
        T.mma(c, a, b, atom=T.cuda.mma.atom(op="SM80_16x8x16_F32BF16BF16F32_TN"))
"""

KERNEL_PROGRAMS = {"kernels": KERNELS, "tiles": TILES, "instructions": MMA}
