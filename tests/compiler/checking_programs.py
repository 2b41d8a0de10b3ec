# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the kernel language: their names and annotations mean nothing to Python's type system.
"""Kernels in TIR with one fault each, and right ones beside them: what checking mode must and must not report."""

from __future__ import annotations

from tilefoundry import prim_func
from tilefoundry.dsl import BinaryKind, Mesh, T, Tensor, Topology, launch
from tilefoundry.target import CpuTarget, CudaTarget

CUDA = CudaTarget("nvidia.h200_sxm")
THREADS = Topology("thread", 128)


@prim_func(target=CUDA)
def flipped(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """The rows of `a` in reverse order, by way of a tile: right."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        T.copy(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        T.sync(m)
        T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def no_barrier(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """The barrier between the writes and the reads of a tile is missing."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        T.copy(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def barrier_of_half(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """Warps meet in pairs, and read what a warp of the other pair wrote."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        T.copy(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
        with m[0:2] as front:
            T.sync(front)
        with m[2:4] as back:
            T.sync(back)
        T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def tile_reused(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """The tile is written again while others may still read it."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        tile = T.alloc_tensor(Tensor[(4, 32), "f32", "smem"])
        for _ in range(0, 2, 1):
            T.copy(a, T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l)))
            T.sync(m)
            T.copy(T.tensor_view(tile, 3 - m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.binary(r, 2.0, r, kind=BinaryKind.MUL)
            T.copy(r, T.tensor_view(tile, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
            T.sync(m)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def off_by_one(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """Each warp reads the row after its own."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        T.copy(T.tensor_view(a, m.w + 1, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def unset(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """A sum starts from registers that nobody has set."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
        acc = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
        T.copy(a, r)
        T.binary(acc, r, acc, kind=BinaryKind.ADD)
        T.copy(acc, o)


@prim_func(target=CUDA)
def counter_unset(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """A counter in a register starts from what nobody has set."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
        r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
        T.copy(a, r)
        T.binary(n, 1, n, kind=BinaryKind.ADD)
        T.copy(r, o)


@prim_func(target=CUDA)
def counter_of_some(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """A counter is set by the instances of one warp, and asked by all of them."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
        r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
        T.copy(a, r)
        if m.w == 0:
            T.fill(n, 0)
        while n < 2:
            T.binary(r, 2.0, r, kind=BinaryKind.MUL)
            T.binary(n, 1, n, kind=BinaryKind.ADD)
        T.copy(r, o)


@prim_func(target=CUDA)
def row_left_out(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """The last row of the output is not written."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        if m.w < 3:
            T.copy(T.tensor_view(a, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.copy(r, T.tensor_view(o, m.w, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def each_cta(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    """Each CTA adds its number, and writes all of the output."""
    with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
        T.copy(a, r)
        if T.program_id(level="cta") == 1:
            T.binary(r, 1.0, r, kind=BinaryKind.ADD)
        T.copy(r, o)


@prim_func(target=CpuTarget())
def twice_written(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    launch(each_cta, a, o, grid=2, block=128)


def divergent():
    """Half of the threads wait for the others at a barrier: what the language refuses, so that it cannot run."""

    @prim_func(target=CUDA)
    def kernel(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
        with Mesh((THREADS,), (4, 32), ("w", "l")) as m:
            r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])
            T.copy(a, r)
            if m.w < 2:
                T.sync(m)
            T.copy(r, o)
