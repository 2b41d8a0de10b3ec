"""Each op's bandwidth or rate beside the ceiling that torch reaches in the same run.

Memory-bound ops move tensors well beyond the L2 cache and are held against a copy by torch; products are held
against `torch.matmul` of bf16 at 8192 x 8192 x 8192. An op fails below `BOUND` of its ceiling. All times, torch's too,
are those of the device: a call's way through Python, which differs from op to op, is in none.
"""

from __future__ import annotations

import ctypes
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

BOUND = 0.9
ELEMENTS = 1 << 28
ROW = 8192
SIZE = 8192
_TILE = (128, 256, 64)  # of the bare loop of products, by one CTA
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


def _argument(x: Tensor) -> _Argument:
    kind = _Vector if x.dim() == 1 else _Matrix
    return kind(x.data_ptr(), (ctypes.c_int64 * x.dim())(*x.shape), (ctypes.c_int64 * x.dim())(*x.stride()))


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

    def row_sums(self, x: Tensor, out: Tensor) -> None:
        """out[i] = sum(x[i]) for a (rows, 8192) matrix."""
        self._call("device_ops_row_sums", self._pack(x, out))

    def bulk_copy(self, x: Tensor, out: Tensor) -> None:
        """out = x for bf16 matrices, by bulk tensor copies."""
        self._call("device_ops_bulk_copy", self._pack(x, out))

    def products(self, out: Tensor, steps: int) -> None:
        """`steps` products of 128 x 256 x 64 by each of `len(out) / 128` CTAs."""
        self._call("device_ops_products", self._pack(out), ctypes.c_int64(steps))

    def gemm(self, a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = a @ b.T."""
        self._call("gemm_on_gpu", self._pack(a, b, out), ctypes.c_bool(True))

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
    return [*_bandwidths(library, device), *_rates(library, device)]


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
    wide = torch.empty_like(a, dtype=torch.float32)
    yield vectors("widen", a, wide, lambda: a.float())
    yield vectors("narrow", wide.copy_(a), out, lambda: a)
    del wide
    small = torch.empty_like(a, dtype=torch.float8_e4m3fn)
    yield rate(
        "fp8",
        lambda: library.vectors("fp8", a, b, small),
        a.nbytes + small.nbytes,
        small.view(torch.uint8),
        lambda: a.to(torch.float8_e4m3fn).view(torch.uint8),
    )
    # Rows as wide as one copy: a box is one piece of memory.
    matrix, copied = a.view(-1, 256), out.view(-1, 256)
    yield rate("bulk copy", lambda: library.bulk_copy(matrix, copied), 2 * a.nbytes, copied, lambda: matrix)
    matrix = a.view(-1, ROW)
    sums = torch.empty(len(matrix), device=device, dtype=torch.float32)
    yield rate("row sums", lambda: library.row_sums(matrix, sums), a.nbytes, sums, lambda: matrix.float().sum(1))


def _rates(library: DeviceOps, device: torch.device) -> Iterator[Rate]:
    a, b = (torch.randn(SIZE, SIZE, device=device, dtype=torch.bfloat16) for _ in range(2))
    out, wanted = torch.empty_like(a), torch.empty_like(a)
    work = 2.0 * SIZE**3
    processors = torch.cuda.get_device_properties(device).multi_processor_count
    m, n, k = _TILE
    loop = torch.empty(processors * m, n, device=device, dtype=torch.float32)
    steps = int(work / (2.0 * m * n * k * processors))

    out.fill_(math.nan)
    library.gemm(a, b, out)
    fault = _difference(out, torch.matmul(a, b.T))
    # In turn, because a chip at its power limit slows down as it warms up.
    times = [
        (
            _device_seconds(lambda: torch.matmul(a, b.T, out=wanted)),
            _device_seconds(lambda: library.products(loop, steps)),
            _device_seconds(lambda: library.gemm(a, b, out)),
        )
        for _ in range(3)
    ]
    ceiling, bare, gemm = (sorted(column)[1] for column in zip(*times, strict=True))
    bare_work = steps * 2.0 * m * n * k * processors
    yield Rate("mma loop", bare_work / bare / 1e12, work / ceiling / 1e12, "TFLOP/s")
    yield Rate("gemm", work / gemm / 1e12, work / ceiling / 1e12, "TFLOP/s", fault)


def _difference(found: Tensor, wanted: Tensor) -> str:
    """What is wrong with a result: "" for nothing. A rounding more or less is right."""
    if found.dtype == torch.uint8:
        return "" if torch.equal(found, wanted) else "bytes differ"
    norm = torch.linalg.vector_norm
    error = float(norm(found - wanted, dtype=torch.float32) / norm(wanted, dtype=torch.float32))
    return "" if error < 4e-3 else f"rel_l2 {error:.1e}"
