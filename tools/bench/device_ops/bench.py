"""Each op's bandwidth or rate beside the ceiling that torch reaches in the same run.

Memory-bound ops move tensors well beyond the L2 cache and are held against a copy by torch; products are held
against cuBLAS at 8192 x 8192 x 8192, and attention against cuDNN. An op fails below `BOUND` of its ceiling. All times,
torch's too, are those of the device: a call's way through Python, which differs from op to op, is in none.
"""

from __future__ import annotations

import ctypes
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

BOUND = 0.9
ELEMENTS = 1 << 28
ROW = 8192
SIZE = 8192
_TILE = (128, 256, 128)  # of the bare loop of products, by one CTA: rows, columns and bytes of the reduced axis
_ATTENTION = (2, 16, 8192, 128)  # batches, heads, rows, head dimension
_CALLS, _RUNS = 4, 20


@dataclass(frozen=True)
class Rate:
    """One op: what it reached and its ceiling, in `unit`, and the largest error that was found."""

    op: str
    reached: float
    ceiling: float
    unit: str
    fault: str = ""

    @property
    def ratio(self) -> float:
        """Part of the ceiling that was reached."""
        return self.reached / self.ceiling

    @property
    def passed(self) -> bool:
        """Right, and at the bound or above it."""
        return not self.fault and self.ratio >= BOUND


class _Argument(ctypes.Structure):
    """A tensor as a kernel takes it: address, extents and strides in elements."""


class _Vector(_Argument):
    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 1), ("stride", ctypes.c_int64 * 1))


class _Matrix(_Argument):
    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 2), ("stride", ctypes.c_int64 * 2))


class _Cube(_Argument):
    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 3), ("stride", ctypes.c_int64 * 3))


def _argument(x: Tensor) -> _Argument:
    return (_Vector, _Matrix, _Cube)[x.dim() - 1](
        x.data_ptr(), (ctypes.c_int64 * x.dim())(*x.shape), (ctypes.c_int64 * x.dim())(*x.stride())
    )


class DeviceOps:
    """The library of kernels; every call starts one on torch's current stream.

    Args:
        path: `device_ops.so`.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def vectors(self, op: str, a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = op(a, b) on flat tensors of a multiple of 8192 elements."""
        self._call("device_ops_vectors", op.encode(), self._pack(a, b, out))

    def rows(self, op: str, x: Tensor, out: Tensor) -> None:
        """out[i] = op(x[i]) for a (rows, 8192) matrix: the sum, of bf16, or the max, of f32."""
        self._call("device_ops_rows", op.encode(), self._pack(x, out))

    def row_map(self, op: str, x: Tensor, weight: Tensor, out: Tensor) -> None:
        """out = rms_norm(x) * weight, or softmax(x), for a (rows, 8192) matrix."""
        self._call("device_ops_row_map", op.encode(), self._pack(x, out, weight))

    def bulk_copy(self, x: Tensor, out: Tensor) -> None:
        """out = x for bf16 matrices, by bulk tensor copies."""
        self._call("device_ops_bulk_copy", self._pack(x, out))

    def products(self, dtype: str, out: Tensor, steps: int) -> None:
        """`steps` products of `_TILE` in bf16 or fp8 by each of `len(out) / 128` CTAs."""
        self._call("device_ops_products", dtype.encode(), self._pack(out), ctypes.c_int64(steps))

    def gemm(self, a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = a @ b.T."""
        self._call("gemm_on_gpu", self._pack(a, b, out), ctypes.c_bool(True))

    def gemm_by_rows(self, a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = a @ b."""
        self._call("gemm_by_rows_on_gpu", self._pack(a, b, out), ctypes.c_bool(True))

    def attention(self, q: Tensor, k: Tensor, v: Tensor, out: Tensor, *, causal: bool) -> None:
        """out = softmax(q k^T / sqrt(128)) v for bf16 of (heads, rows, 128)."""
        scale = ctypes.c_float(q.shape[-1] ** -0.5)
        self._call("device_ops_attention", self._pack(q, k, v, out), scale, ctypes.c_bool(causal))

    @staticmethod
    def _pack(*tensors: Tensor) -> ctypes.Array[ctypes.c_char]:
        return ctypes.create_string_buffer(b"".join(bytes(_argument(x)) for x in tensors))

    def _call(self, name: str, *arguments: object) -> None:
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        error = getattr(self._library, name)(*arguments, stream)
        if error != 0:
            raise RuntimeError(f"{name}: CUDA error {error}")


def measure(library: DeviceOps, device: torch.device) -> list[Rate]:
    """Checks and times every op of the library."""
    return [*_bandwidths(library, device), *_products(library, device), *_attention(library, device)]


def _device_seconds(call: Callable[[], object]) -> float:
    """Median device time of one of several calls on end.

    Events around a single call would count the host's way to the launch, during which the stream is idle: some 20 us
    of the 260 that a copy of half a gigabyte takes, and more where tensor maps are made. Here the calls before the
    first event keep the stream busy until all are queued. (A CUDA graph is no way out: its copies are slower than
    those of a stream.)
    """
    for _ in range(_CALLS):
        call()
    times = []
    for _ in range(_RUNS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        call()
        start.record()
        for _ in range(_CALLS):
            call()
        end.record()
        times.append((start, end))
    torch.cuda.synchronize()
    return statistics.median(float(start.elapsed_time(end)) for start, end in times) / 1e3 / _CALLS


def _bandwidths(library: DeviceOps, device: torch.device) -> Iterator[Rate]:
    a, b = (torch.randn(ELEMENTS, device=device, dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    ceiling = 2 * a.nbytes / _device_seconds(lambda: out.copy_(a))

    def rate(op: str, call: Callable[[], None], moved: int, result: Tensor, want: Callable[[], Tensor]) -> Rate:
        result.fill_(255 if result.dtype == torch.uint8 else math.nan)
        call()
        fault = _difference(result, want())
        return Rate(op, moved / _device_seconds(call) / 1e12, ceiling / 1e12, "TB/s", fault)

    def vectors(op: str, x: Tensor, result: Tensor, want: Callable[[], Tensor], inputs: int = 1) -> Rate:
        moved = inputs * x.nbytes + result.nbytes
        return rate(op, lambda: library.vectors(op, x, b, result), moved, result, want)

    yield vectors("copy", a, out, lambda: a)
    yield vectors("exp", a, out, lambda: a.exp())
    yield vectors("add", a, out, lambda: a + b, inputs=2)
    wide, result = (torch.empty_like(a, dtype=torch.float32) for _ in range(2))
    yield vectors("widen", a, wide, lambda: a.float())
    yield vectors("narrow", wide.copy_(a), out, lambda: a)
    yield vectors("exp f32", wide, result, lambda: wide.exp())
    matrix, most = wide.view(-1, ROW), torch.empty(ELEMENTS // ROW, device=device, dtype=torch.float32)
    yield rate("row maxima f32", lambda: library.rows("max", matrix, most), wide.nbytes, most, lambda: matrix.amax(1))
    half, other, halves = a.half(), b.half(), torch.empty_like(a, dtype=torch.float16)
    call = partial(library.vectors, "add f16", half, other, halves)
    yield rate("add f16", call, 3 * a.nbytes, halves, lambda: half + other)
    small = torch.empty_like(a, dtype=torch.float8_e4m3fn)
    moved = a.nbytes + small.nbytes
    want = a.to(torch.float8_e4m3fn)
    call = partial(library.vectors, "to fp8", a, b, small)
    yield rate("to fp8", call, moved, small.view(torch.uint8), lambda: want.view(torch.uint8))
    yield rate("from fp8", partial(library.vectors, "from fp8", want, b, out), moved, out, lambda: want.bfloat16())
    # Rows as wide as one copy: a box is one piece of memory.
    matrix, copied = a.view(-1, 256), out.view(-1, 256)
    yield rate("bulk copy", lambda: library.bulk_copy(matrix, copied), 2 * a.nbytes, copied, lambda: matrix)
    matrix, mapped = a.view(-1, ROW), out.view(-1, ROW)
    sums = torch.empty(len(matrix), device=device, dtype=torch.float32)
    yield rate("row sums", lambda: library.rows("sum", matrix, sums), a.nbytes, sums, lambda: matrix.float().sum(1))
    weight = torch.randn(ROW, device=device, dtype=torch.bfloat16)
    for op, wanted in (
        ("softmax", lambda: matrix.softmax(1)),
        ("rms_norm", lambda: torch.nn.functional.rms_norm(matrix, (ROW,), weight, 1e-6)),
    ):
        yield rate(op, partial(library.row_map, op, matrix, weight, mapped), 2 * a.nbytes, mapped, wanted)


def _in_turn(*calls: Callable[[], object]) -> list[float]:
    """Device time of each, the median of three: in turn, because a chip at its power limit slows down as it warms."""
    times = [[_device_seconds(call) for call in calls] for _ in range(3)]
    return [sorted(column)[1] for column in zip(*times, strict=True)]


def _products(library: DeviceOps, device: torch.device) -> Iterator[Rate]:
    a, b = (torch.randn(SIZE, SIZE, device=device, dtype=torch.bfloat16) for _ in range(2))
    out, wanted, by_rows = (torch.empty_like(a) for _ in range(3))
    work = 2.0 * SIZE**3
    m, n, depth = _TILE
    ctas = torch.cuda.get_device_properties(device).multi_processor_count
    loop = torch.empty(ctas * m, n, device=device, dtype=torch.float32)

    def steps(element_bytes: int) -> int:
        return int(work / (2.0 * m * n * depth / element_bytes * ctas))

    def bare_work(element_bytes: int) -> float:
        return steps(element_bytes) * 2.0 * m * n * depth / element_bytes * ctas

    faults = []
    for gemm, given, result in ((library.gemm, b.T, out), (library.gemm_by_rows, b, by_rows)):
        result.fill_(math.nan)
        gemm(a, b, result)
        faults.append(_difference(result, torch.matmul(a, given)))
    columns, rows, bare, gemm_time, by_rows_time = _in_turn(
        lambda: torch.matmul(a, b.T, out=wanted),
        lambda: torch.matmul(a, b, out=wanted),
        lambda: library.products("bf16", loop, steps(2)),
        lambda: library.gemm(a, b, out),
        lambda: library.gemm_by_rows(a, b, by_rows),
    )
    yield Rate("mma loop", bare_work(2) / bare / 1e12, work / columns / 1e12, "TFLOP/s")
    yield Rate("gemm", work / gemm_time / 1e12, work / columns / 1e12, "TFLOP/s", faults[0])
    yield Rate("gemm, b by rows", work / by_rows_time / 1e12, work / rows / 1e12, "TFLOP/s", faults[1])

    small, other = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
    one = torch.ones((), device=device)
    ceiling, bare = _in_turn(
        lambda: torch._scaled_mm(small, other.T, one, one, out_dtype=torch.bfloat16, use_fast_accum=True),
        lambda: library.products("fp8", loop, steps(1)),
    )
    yield Rate("mma loop fp8", bare_work(1) / bare / 1e12, work / ceiling / 1e12, "TFLOP/s")


def _attention(library: DeviceOps, device: torch.device) -> Iterator[Rate]:
    batches, heads, rows, dimension = _ATTENTION
    q, k, v = (torch.randn(_ATTENTION, device=device, dtype=torch.bfloat16) for _ in range(3))
    flat = [x.view(batches * heads, rows, dimension) for x in (q, k, v)]
    for causal in (False, True):

        def cudnn(causal: bool = causal) -> Tensor:
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        out = torch.full_like(flat[0], math.nan)
        call = partial(library.attention, flat[0], flat[1], flat[2], out, causal=causal)
        call()
        some = [x[:: len(out) - 1].float() for x in flat]
        wanted = torch.nn.functional.scaled_dot_product_attention(some[0], some[1], some[2], is_causal=causal)
        fault = _difference(out[:: len(out) - 1], wanted) if bool(out.isfinite().all()) else "unwritten"
        ceiling, ours = _in_turn(cudnn, call)
        work = 4.0 * batches * heads * rows * rows * dimension * (0.5 if causal else 1.0)
        name = "attention, causal" if causal else "attention"
        yield Rate(name, work / ours / 1e12, work / ceiling / 1e12, "TFLOP/s", fault)


def _difference(found: Tensor, wanted: Tensor) -> str:
    """What is wrong with a result: "" for nothing. A rounding more or less is right."""
    if found.dtype == torch.uint8:
        return "" if torch.equal(found, wanted) else "bytes differ"
    norm = torch.linalg.vector_norm
    error = float(norm(found - wanted, dtype=torch.float32) / norm(wanted, dtype=torch.float32))
    return "" if error < 4e-3 else f"rel_l2 {error:.1e}"
