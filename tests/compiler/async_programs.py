# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the kernel language: their names and annotations mean nothing to Python's type system.
"""Kernels in TIR that copy asynchronously: right ones of every kind of view, and some with one fault each."""

from __future__ import annotations

from tilefoundry import Layout, ShardLayout, Split, prim_func
from tilefoundry.dsl import BinaryKind, Mesh, T, Tensor, Topology
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.target import CudaTarget

CUDA = CudaTarget("nvidia.h200_sxm")
THREADS = Topology("thread", 128)


def blocks(dtype: str, width: int, columns: int, start: int) -> PrimFunction:
    """`columns` columns of rows of `width`, from column `start` on, by way of a tile; runs of columns / 8."""

    @prim_func(target=CUDA)
    def copied(a: Tensor[(16, width), dtype], o: Tensor[(16, columns), dtype]):
        with Mesh((THREADS,), (16, 8), ("r", "c")) as m:
            tile = T.alloc_tensor(Tensor[(16, columns), dtype, "smem"])
            mine = T.tensor_view(tile, layout=(16 @ m.r, 8 @ m.c, columns // 8))
            strides = Layout((16, 8, columns // 8), (width, columns // 8, 1))
            layout = ShardLayout(strides, (Split(0), Split(1)), m)
            window = T.tensor_view(a, 0, start, shape=(16, columns), layout=layout)
            T.copy_async(window, mine)
            T.cp_async_commit()
            T.cp_async_wait(n=0)
            T.copy(mine, T.tensor_view(o, layout=(16 @ m.r, 8 @ m.c, columns // 8)))

    return copied


def rows(dtype: str, width: int) -> PrimFunction:
    """A row for each unit."""

    @prim_func(target=CUDA)
    def copied(a: Tensor[(128, width), dtype], o: Tensor[(128, width), dtype]):
        with Mesh((THREADS,), (128,), ("t",)) as m:
            tile = T.alloc_tensor(Tensor[(128, width), dtype, "smem"])
            mine = T.tensor_view(tile, layout=(128 @ m.t, width))
            T.copy_async(T.tensor_view(a, layout=(128 @ m.t, width)), mine)
            T.cp_async_commit()
            T.cp_async_wait(n=0)
            T.copy(mine, T.tensor_view(o, layout=(128 @ m.t, width)))

    return copied


@prim_func(target=CUDA)
def whole(a: Tensor[(16, 64), "bf16"], o: Tensor[(16, 64), "bf16"]):
    """A parameter as it is: each unit takes the part that it has of the tile."""
    with Mesh((THREADS,), (16, 8), ("r", "c")) as m:
        tile = T.alloc_tensor(Tensor[(16, 64), "bf16", "smem"])
        mine = T.tensor_view(tile, layout=(16 @ m.r, 8 @ m.c, 8))
        T.copy_async(a, mine)
        T.cp_async_commit()
        T.cp_async_wait(n=0)
        T.copy(mine, T.tensor_view(o, layout=(16 @ m.r, 8 @ m.c, 8)))


@prim_func(target=CUDA)
def pipelined(a: Tensor[(16, 512), "bf16"], o: Tensor[(16, 64), "f32"]):
    """The sum of eight blocks of columns: one is on its way while another one is added."""
    with Mesh((THREADS,), (16, 8), ("r", "c")) as m:
        block = ShardLayout(Layout((16, 8, 8), (512, 8, 1)), (Split(0), Split(1)), m)
        total = T.alloc_tensor(Tensor[(16, 64), "f32", (16 @ m.r, 8 @ m.c, 8), "rmem"])
        wide = T.alloc_tensor(Tensor[(16, 64), "f32", (16 @ m.r, 8 @ m.c, 8), "rmem"])
        T.fill(total, 0.0)
        tiles = T.alloc_tensor(Tensor[(2, 16, 64), "bf16", "smem"])
        T.copy_async(
            T.tensor_view(a, 0, 0, shape=(16, 64), layout=block),
            T.tensor_view(tiles, 0, 0, 0, shape=(1, 16, 64), layout=(1, 16 @ m.r, 8 @ m.c, 8)),
        )
        T.cp_async_commit()
        for k in range(0, 512, 64):
            if k + 64 < 512:
                T.copy_async(
                    T.tensor_view(a, 0, k + 64, shape=(16, 64), layout=block),
                    T.tensor_view(tiles, (k // 64 + 1) % 2, 0, 0, shape=(1, 16, 64), layout=(1, 16 @ m.r, 8 @ m.c, 8)),
                )
            T.cp_async_commit()
            T.cp_async_wait(n=1)
            T.cast(T.tensor_view(tiles, k // 64 % 2, 0, 0, shape=(1, 16, 64), layout=(1, 16 @ m.r, 8 @ m.c, 8)), wide)
            T.binary(total, wide, total, kind=BinaryKind.ADD)
        T.copy(total, T.tensor_view(o, layout=(16 @ m.r, 8 @ m.c, 8)))


@prim_func(target=CUDA)
def flipped(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """Rows in reverse order: other units read what a unit has copied, after a barrier."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        T.copy_async(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        T.cp_async_commit()
        T.cp_async_wait(n=0)
        T.sync(m)
        T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def not_waited_for(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """One group may still be in flight, and it is the one that is read."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        mine = T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l))
        T.copy_async(a, mine)
        T.cp_async_commit()
        T.cp_async_wait(n=1)
        T.copy(mine, T.tensor_view(o, layout=(4 @ m.w, 32 @ m.l)))


@prim_func(target=CUDA)
def source_written(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """What is being copied is overwritten before it has been waited for."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        out = T.tensor_view(o, layout=(4 @ m.w, 32 @ m.l))
        T.copy(a, out)
        T.copy_async(out, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        T.cp_async_commit()
        T.fill(out, 0.0)
        T.cp_async_wait(n=0)


@prim_func(target=CUDA)
def no_barrier(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """Each unit has waited for its own copies, and reads those of others."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        T.copy_async(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        T.cp_async_commit()
        T.cp_async_wait(n=0)
        T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
