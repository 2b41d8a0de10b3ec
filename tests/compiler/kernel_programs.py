# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the kernel language: their names and annotations mean nothing to Python's type system.
"""Kernels in TIR that the tests compile: the statements of the language, each in a use."""

from __future__ import annotations

from tilefoundry import DType, TensorType, intrinsic, prim_func
from tilefoundry.dsl import (
    BinaryKind,
    Broadcast,
    DimVar,
    Layout,
    Mesh,
    ReduceKind,
    ShardLayout,
    Split,
    T,
    Tensor,
    Topology,
    UnaryKind,
    ceildiv,
    launch,
)
from tilefoundry.ir.types import StorageKind
from tilefoundry.python.testing import EX5, load_program
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("N", 1, 1 << 20)
THREADS = Topology("thread", 128)
CUDA = CudaTarget("nvidia.h200_sxm")


_EXAMPLE = load_program(EX5)
dev, host = _EXAMPLE["dev"], _EXAMPLE["host"]


@intrinsic
def softclip(x, *, bound):
    """x becomes relu(x), at most `bound`."""
    T.relu(x, x)
    T.clamp(x, x, min_val=0.0, max_val=bound)


@prim_func(target=CUDA)
def rows(a: Tensor[(N, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(N, 32), "f32"]):
    """Each row by one warp, rows strided over the CTAs: doubled `times` times, clipped; odd rows negated."""
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        first = T.program_id(level="cta") * 4 + m.w
        for row in range(first, N, T.program_dim(level="cta") * 4):
            T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.fill(n, 0)
            while n < times:
                T.binary(r, 2.0, r, kind=BinaryKind.MUL)
                T.binary(n, 1, n, kind=BinaryKind.ADD)
            softclip(r, bound=8.0)
            if row % 2 == 1:
                T.unary(r, r, kind=UnaryKind.NEG)
            else:
                T.binary(r, 0.5, r, kind=BinaryKind.ADD)
            T.copy(r, T.tensor_view(o, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CpuTarget())
def rows_host(a: Tensor[(N, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(N, 32), "f32"]):
    launch(rows, a, times, o, grid=min(ceildiv(a.shape[0], 4), 3), block=128)


@prim_func(target=CUDA)
def turned(a: Tensor[(N, 64), "f32"], o: Tensor[(N, 64), "f32"]):
    """Each CTA one row, reversed in blocks of 32 through shared memory, in four barriers of different units."""
    with Mesh((Topology("thread", 64),), Layout((2, 32), (32, 1)), ("w", "l")) as m:
        tile = T.alloc_tensor(Tensor[(2, 32), "f32", "smem"])
        mine = T.tensor_view(tile, layout=(2 @ m.w, 32 @ m.l))
        row = T.program_id(level="cta")
        source = T.tensor_view(a, row, 0, shape=(2, 32), layout=(2 @ m.w, 32 @ m.l))
        T.copy_async(source, mine)
        T.cp_async_commit()
        T.cp_async_wait(n=0)
        T.sync(m)
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        with m[0] as front:
            T.copy(T.tensor_view(tile, 1, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.sync(front)
        with m[1:2] as back:
            T.copy(T.tensor_view(tile, 0, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.sync(back)
        T.copy(r, T.tensor_view(o, row, m.w * 32, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CpuTarget())
def turned_host(a: Tensor[(N, 64), "f32"], o: Tensor[(N, 64), "f32"]):
    launch(turned, a, o, grid=a.shape[0], block=64)


@prim_func(target=CUDA)
def total(a: Tensor[(8, 128), "f32"], o: Tensor[(8, 1), "f32"]):
    """Row sums over four warps, through a workspace."""
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(8, 128), "f32", (8, 4 @ m.w, 32 @ m.l), "rmem"])
        T.copy(T.tensor_view(a, layout=(8, 4 @ m.w, 32 @ m.l)), r)
        held = ShardLayout(Layout((8, 1), (1, 0)), (Broadcast(), Broadcast()), m)
        s = T.alloc_tensor(TensorType((8, 1), DType.f32, held, StorageKind.RMEM))
        work = T.alloc_tensor(Tensor[(1024,), "f32", "smem"])
        T.reduce(r, s, work, axes=(1,), kind=ReduceKind.SUM)
        with m[1:3] as middle:
            T.sync(middle)
        if m.w == 0 and m.l == 0:
            T.copy(s, T.tensor_view(o, layout=ShardLayout(Layout((8, 1), (1, 1)), held.attrs, m)))


@prim_func(target=CUDA)
def mixture(a: Tensor[(16, 32), "f16"], bias: Tensor[(), "f32"], o: Tensor[(16, 32), "f32"]):
    """relu(a + bias) where the column is even, else the column, through a sharded tile; parameters are copied whole."""
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        h = T.alloc_tensor(Tensor[(16, 32), "f16", (4 @ m.w, 4, 32 @ m.l), "rmem"])
        r = T.alloc_tensor(Tensor[(16, 32), "f32", (4 @ m.w, 4, 32 @ m.l), "rmem"])
        column = T.alloc_tensor(Tensor[(16, 32), "i32", (4 @ m.w, 4, 32 @ m.l), "rmem"])
        number = T.alloc_tensor(Tensor[(16, 32), "f32", (4 @ m.w, 4, 32 @ m.l), "rmem"])
        even = T.alloc_tensor(Tensor[(16, 32), "bool", (4 @ m.w, 4, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(16, 32), "f32", (4 @ m.w, 4, 32 @ m.l), "smem"])
        T.copy(a, h)
        T.cast(h, r)
        T.binary(r, bias, r, kind=BinaryKind.ADD)
        T.iota(0, column, axis=1, step=1)
        T.cast(column, number)
        T.binary(column, 2, column, kind=BinaryKind.MOD)
        T.binary(column, 0, even, kind=BinaryKind.EQ)
        T.relu(r, r)
        T.where(even, r, number, tile)
        T.sync(m)
        T.copy(tile, r)
        T.copy(r, o)


@prim_func(target=CUDA)
def product(a: Tensor[(16, 16), "f32"], b: Tensor[(16, 16), "f32"], o: Tensor[(16, 16), "f32"]):
    """a @ b from shared tiles."""
    with Mesh((THREADS,), Layout((8, 16), (16, 1)), ("r", "c")) as m:
        x = T.alloc_tensor(Tensor[(16, 16), "f32", "smem"])
        y = T.alloc_tensor(Tensor[(16, 16), "f32", "smem"])
        acc = T.alloc_tensor(Tensor[(16, 16), "f32", (8 @ m.r, 2, 16 @ m.c), "rmem"])
        T.copy(a, T.tensor_view(x, layout=(8 @ m.r, 2, 16 @ m.c)))
        T.copy(b, T.tensor_view(y, layout=(8 @ m.r, 2, 16 @ m.c)))
        T.fill(acc, 0.0)
        T.sync(m)
        T.mma(acc, x, y)
        T.copy(acc, o)


@prim_func(target=CUDA)
def normed(
    a: Tensor[(3, 512), "bf16"], w: Tensor[(512,), "f32"], o: Tensor[(3, 512), "bf16"], p: Tensor[(3, 512), "bf16"]
):
    """Rows over all threads of a CTA, normed by a weight in global memory, and in registers."""
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        x = T.alloc_tensor(Tensor[(3, 512), "bf16", (3, 4 @ m.w, 32 @ m.l, 4), "rmem"])
        y = T.alloc_tensor(Tensor[(3, 512), "bf16", (3, 4 @ m.w, 32 @ m.l, 4), "rmem"])
        held = T.alloc_tensor(Tensor[(512,), "f32", (4 @ m.w, 32 @ m.l, 4), "rmem"])
        T.copy(a, x)
        T.copy(w, held)
        T.rms_norm(x, w, y, eps=1e-3)
        T.copy(y, o)
        T.rms_norm(x, held, x)
        T.copy(x, p)


ATOM = T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN


@prim_func(target=CUDA)
def by_instruction(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"], o: Tensor[(16, 8), "f32"]):
    """a @ b + 1, by one instruction of a warp on its fragments."""
    with Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("q", "g")) as m:
        A = ShardLayout(Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)), (Split(1), Split(3)), m)
        B = ShardLayout(Layout((8, 2, 4, 2), (1, 8, 16, 64)), (Split(2), Split(0)), m)
        C = ShardLayout(Layout((2, 4, 8, 2), (1, 2, 8, 64)), (Split(1), Split(2)), m)
        x = T.alloc_tensor(TensorType((16, 16), DType.bf16, A, StorageKind.RMEM))
        y = T.alloc_tensor(TensorType((16, 8), DType.bf16, B, StorageKind.RMEM))
        acc = T.alloc_tensor(TensorType((16, 8), DType.f32, C, StorageKind.RMEM))
        T.copy(a, x)
        T.copy(b, y)
        T.fill(acc, 1.0)
        T.mma(acc, x, y, atom=ATOM)
        T.copy(acc, o)


@prim_func(target=CUDA)
def by_parts(a: Tensor[(8, 6), "f32"], b: Tensor[(6, 64), "f32"], o: Tensor[(8, 64), "f32"]):
    """a @ b, of which each thread multiplies its own rows by its own columns."""
    with Mesh((THREADS,), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        x = T.alloc_tensor(Tensor[(8, 6), "f32", (4 @ m.w, 2, 6), "rmem"])
        y = T.alloc_tensor(Tensor[(6, 64), "f32", (6, 32 @ m.l, 2), "rmem"])
        acc = T.alloc_tensor(Tensor[(8, 64), "f32", (4 @ m.w, 2, 32 @ m.l, 2), "rmem"])
        T.copy(a, x)
        T.copy(b, y)
        T.fill(acc, 0.0)
        T.local_matmul(acc, x, y)
        T.copy(acc, o)


@prim_func(target=CUDA)
def interleaved(a: Tensor[(4, 64), "f32"], o: Tensor[(4, 64), "f32"]):
    """The halves of `a` exchanged, through addresses of global and of shared memory."""
    with Mesh((THREADS,), (128,), ("t",)) as m:
        source, target = T.ptr_of(a), T.ptr_of(o)
        tile = T.alloc_tensor(Tensor[(256,), "f32", "smem"])
        held = T.ptr_of(tile)
        half = 128
        for i in range(0, 256, half):
            r = T.alloc_tensor(Tensor[(128,), "f32", (128 @ m.t,), "rmem"])
            T.copy(T.tensor_view(source, i, shape=(128,), layout=(128 @ m.t,)), r)
            T.copy(r, T.tensor_view(held, half - i, shape=(128,), layout=(128 @ m.t,)))
        T.sync(m)
        x = T.alloc_tensor(Tensor[(2, 128), "f32", (2, 128 @ m.t), "rmem"])
        T.copy(T.tensor_view(held, shape=(2, 128), layout=(2, 128 @ m.t)), x)
        T.copy(x, T.tensor_view(target, shape=(2, 128), layout=(2, 128 @ m.t)))
