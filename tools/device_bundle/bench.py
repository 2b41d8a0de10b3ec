"""Attention libraries beside torch's cuDNN and flash attention, by CUDA events in one run."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from examples.attention.reference import TORCH_DTYPES
from examples.attention.timing import median_seconds
from tools.device_bundle.kernels import AttentionLibrary

# batch, heads, sequence, head dimension
Size = tuple[int, int, int, int]
SIZES = (
    (4, 16, 4096, 32),
    (4, 16, 4096, 64),
    (4, 32, 4096, 64),
    (4, 16, 4096, 128),
    (2, 16, 8192, 128),
    (32, 16, 512, 128),
)
# f32 runs on FMA units, at a small part of the tensor cores' rate.
F32_SIZES = ((2, 16, 2048, 32), (2, 16, 2048, 64), (2, 16, 2048, 128))
DRY_SIZES = ((1, 2, 96, 32), (1, 2, 96, 64), (1, 2, 96, 128))

_PEERS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


@dataclass(frozen=True)
class Timing:
    """One library at one size: seconds of a call, ours and each peer's; None where the peer refuses the input."""

    library: str
    size: Size
    flops: float
    ours: float
    peers: dict[str, float | None]


def measure(
    library: AttentionLibrary, device: torch.device, sizes: tuple[tuple[int, int, int, int], ...]
) -> list[Timing]:
    """Times one library at every size of its head dimension. Our output is allocated once; torch allocates its own."""
    return [_time(library, device, size) for size in sizes if size[3] == library.variant.head_dim]


def sizes_for(library: AttentionLibrary, device: torch.device) -> tuple[Size, ...]:
    """The sizes that are worth measuring: those of the table on a GPU, tiny ones elsewhere."""
    if device.type != "cuda":
        return DRY_SIZES
    return F32_SIZES if library.variant.dtype == "f32" else SIZES


def _time(library: AttentionLibrary, device: torch.device, size: Size) -> Timing:
    batch, heads, length, dim = size
    dtype = TORCH_DTYPES[library.variant.dtype]
    q, k, v = (torch.randn(size, device=device).to(dtype) for _ in range(3))
    flat = [x.view(batch * heads, length, dim) for x in (q, k, v)]
    out = torch.empty_like(flat[0])
    peers: dict[str, float | None] = {}
    for name, backend in _PEERS.items():
        try:
            with sdpa_kernel([backend]):
                peers[name] = median_seconds(
                    lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=library.variant.causal),
                    device,
                )
        except RuntimeError:  # the backend has no kernel for this dtype, or none for this device
            peers[name] = None
    ours = median_seconds(lambda: library.kernel(*flat, out), device)
    work = 4.0 * batch * heads * length * length * dim * (0.5 if library.variant.causal else 1.0)
    return Timing(library.name, size, work, ours, peers)
