"""Compiled programs beside torch: medians of CUDA-event times in one process, and their ratio.

Each program is compiled on this machine and its result is held against torch's first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

import tilefoundry
from examples.attention.timing import median_seconds
from tilefoundry import CompilerOptions, normalize_to_module
from tilefoundry.ir.core.module import Module
from tools.bench.programs import programs
from tools.bench.programs.unplaced import unplaced

# (rows, columns, updates)
UPDATES = ((50_000, 1024, 8192), (1_000_000, 8, 16_384), (50_000, 128, 1 << 19))
# (images, channels, extent, kernel, stride)
CONVOLUTIONS = ((32, 256, 56, 3, 1), (32, 256, 56, 1, 1), (32, 256, 57, 3, 2))
# (rows, columns) of programs without meshes
UNPLACED = (8192, 4096)
DRY_UNPLACED = (33, 256)
DRY_UPDATES = ((40, 8, 30),)
DRY_CONVOLUTIONS = ((2, 64, 9, 3, 1), (1, 64, 9, 3, 2))
# Sums in another order than torch's, and results of 16 bits that round once more.
_BOUND = {torch.float32: 1e-5, torch.bfloat16: 4e-3}


@dataclass(frozen=True)
class Comparison:
    """One program on one input: seconds of a call, ours and torch's; what was found wrong with the result.

    Attributes:
        work: floating-point operations, or 0 for programs that only move elements.
    """

    program: str
    size: tuple[int, ...]
    ours: float
    torch: float
    work: float
    fault: str = ""


def measure(device: torch.device) -> list[Comparison]:
    """Compiles, checks and times every program; on a CPU with tiny inputs."""
    return [*_updates(device), *_convolutions(device), *_unplaced(device)]


def _updates(device: torch.device) -> Iterator[Comparison]:
    add, copy = (_compiled(build, device) for build in (programs.index_add("f32"), programs.index_copy("bf16")))
    across, along = (_compiled(programs.scatter_add(dim), device) for dim in (0, 1))
    for size in UPDATES if device.type == "cuda" else DRY_UPDATES:
        rows, columns, count = size
        x, update = (torch.randn(n, columns, device=device) for n in (rows, count))
        index = torch.randint(rows, (count,), device=device)
        yield _compare("index_add", size, add, lambda x, i, u: x.index_add(0, i, u), x, index, update)
        each = index[:, None].expand(count, columns).contiguous()
        yield _compare("scatter_add", size, across, lambda x, i, u: x.scatter_add(0, i, u), x, each, update)
        if count <= rows:  # of several rows that torch writes to one place, any may stay
            places = torch.randperm(rows, device=device)[:count]
            inputs = x.bfloat16(), places, update.bfloat16()
            yield _compare("index_copy", size, copy, lambda x, i, u: x.index_copy(0, i, u), *inputs)
        # All updates of a row go to one place, so that each waits for the one before.
        inputs = x[:2], torch.zeros(2, count, device=device, dtype=torch.int64), torch.randn(2, count, device=device)
        yield _compare("scatter_add to one", size, along, lambda x, i, u: x.scatter_add(1, i, u), *inputs, terms=count)


def _convolutions(device: torch.device) -> Iterator[Comparison]:
    for size in CONVOLUTIONS if device.type == "cuda" else DRY_CONVOLUTIONS:
        images, channels, extent, kernel, stride = size
        x = torch.randn(images, channels, extent, extent, device=device).bfloat16()
        depth = channels * kernel * kernel
        w = (torch.randn(channels, channels, kernel, kernel, device=device) / depth**0.5).bfloat16()
        b = torch.randn(channels, device=device).bfloat16()
        ours = _compiled(programs.convolution(channels, kernel, stride), device, CompilerOptions(min_ctas_per_sm=2))
        peer = partial(torch.nn.functional.conv2d, stride=stride, padding=kernel // 2)
        yield _compare("conv2d", size, ours, peer, x, w, b, depth=depth)


def _unplaced(device: torch.device) -> Iterator[Comparison]:
    rows, columns = UNPLACED if device.type == "cuda" else DRY_UNPLACED
    for case in unplaced(columns):
        ours = _compiled(normalize_to_module(case.program), device)
        inputs = [torch.randn(shape, device=device).bfloat16() for shape in case.shapes(rows)]
        if case.depth:
            inputs[1] = inputs[1] / case.depth**0.5
        yield _compare(case.name, (rows, columns), ours, case.peer, *inputs, depth=case.depth)


def _compiled(program: Module, device: torch.device, options: CompilerOptions | None = None) -> Callable[..., object]:
    return tilefoundry.jit(program, target=device.type, options=options)


def _compare(
    name: str,
    size: tuple[int, ...],
    ours: Callable[..., object],
    peer: Callable[..., Tensor],
    *inputs: Tensor,
    depth: int = 0,
    terms: int = 1,
) -> Comparison:
    device = inputs[0].device
    found, wanted = ours(*inputs), peer(*inputs)
    assert isinstance(found, Tensor)  # these programs have one result
    norm = torch.linalg.vector_norm
    error = float(norm(found.double() - wanted.double()) / norm(wanted.double()))
    # Of n terms that are added one by one, each sum rounds: errors of both sides grow as the root of n.
    bound = max(_BOUND[found.dtype], 2.0**-24 * terms**0.5)
    fault = "" if error < bound else f"rel_l2 {error:.1e}"
    seconds, peers = (median_seconds(partial(call, *inputs), device) for call in (ours, peer))
    return Comparison(name, size, seconds, peers, 2.0 * depth * wanted.numel(), fault)
