"""`tf.attention`, compiled: the loop over the keys that it stands for, held against attention in f64.

Bounds: in f32 a score rounds to some 2^-21 of its size, up to 8, and weighs values, up to 4, by its exponential.
Of 16-bit types the weights of the softmax are rounded to the type for the second product, as in every fused kernel:
half a unit of the largest value; then the result is rounded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.compiler import attention_op_programs as programs
from tests.compiler.running import compare, compiled
from tilefoundry import TileFoundryError
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.runtime import AllClose
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
BOUNDS = {
    "f64": [AllClose(atol=1e-14, rtol=0)],
    "f32": [AllClose(atol=2**-19, rtol=0)],
    "f16": [AllClose(atol=4 * 2**-12, rtol=2**-10)],
    "bf16": [AllClose(atol=4 * 2**-9, rtol=2**-7)],
}


def qkv(
    dtype: str, lengths: tuple[int, int], heads: tuple[int, int] = (4, 2), width: int = 32, values: int | None = None
) -> list[torch.Tensor]:
    """Queries, keys and values of two batches."""
    (s, t), (h, hk) = lengths, heads
    generator = torch.Generator().manual_seed(s * 100 + t)
    shapes = ((2, h, s, width), (2, hk, t, width), (2, hk, t, values or width))
    return [torch.randn(shape, generator=generator).to(TORCH[dtype]) for shape in shapes]


LENGTHS = [(70, 70), (1, 130), (33, 90), (90, 33), (64, 64)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_grouped_heads_and_odd_lengths(dtype: str, causal: bool) -> None:
    module = programs.attention_op(dtype, causal=causal)
    for lengths in LENGTHS:
        compare(module, *qkv(dtype, lengths), bounds=BOUNDS[dtype])


@pytest.mark.parametrize(
    ("dtype", "sizes", "attributes"),
    [
        ("f64", (4, 4, 20, 16), {"scale": 0.3}),
        ("bf16", (3, 1, 128, 64), {"causal": True}),
        ("f16", (2, 2, 40, 8), {"scale": -0.2}),
    ],
    ids=str,
)
def test_widths_heads_and_scales(dtype: str, sizes: tuple[int, int, int, int], attributes: dict[str, Any]) -> None:
    heads, key_heads, width, values = sizes
    module = programs.attention_op(dtype, heads, key_heads, width, values, rows=16, **attributes)
    compare(module, *qkv(dtype, (37, 51), (heads, key_heads), width, values), bounds=BOUNDS[dtype])


@pytest.mark.parametrize(
    ("kind", "shape", "causal"),
    [
        ("bool", (programs.S, programs.T), False),
        ("bool", (programs.B, 1, 1, programs.T), True),
        ("f32", (4, programs.S, 1), True),
        ("f32", (programs.B, 4, programs.S, programs.T), False),
        ("bool", (), False),
    ],
    ids=str,
)
def test_masks(kind: str, shape: tuple[Any, ...], causal: bool) -> None:
    tensors = qkv("f32", (29, 45), width=24)
    extents = {programs.B: 2, programs.S: 29, programs.T: 45}
    noise = torch.randn([extents.get(extent, extent) for extent in shape], generator=torch.Generator().manual_seed(7))
    mask = noise > -0.3 if kind == "bool" else noise
    compare(programs.masked("f32", shape, kind, causal), *tensors, mask, bounds=BOUNDS["f32"])


def test_queries_that_attend_to_nothing_give_zeros() -> None:
    tensors = qkv("bf16", (20, 70), width=24)
    mask = torch.randn(20, 70, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    mask[3] = mask[17, :66] = -torch.inf
    mask[:, 5:9] = -torch.inf
    module = programs.masked("bf16", (programs.S, programs.T), "bf16")
    assert (compiled(module)(*tensors, mask)[:, :, 3] == 0).all()
    compare(module, *tensors, mask, bounds=BOUNDS["bf16"])


@pytest.mark.parametrize(
    ("dtype", "heads", "key_heads", "head_tile", "causal", "bool_mask"),
    [("f32", 8, 2, 4, True, False), ("bf16", 6, 1, 2, True, True), ("f32", 4, 4, 1, False, True)],
)
def test_tiles_of_heads(dtype: str, heads: int, key_heads: int, head_tile: int, causal: bool, bool_mask: bool) -> None:
    module = programs.head_tiles(dtype, heads, key_heads, head_tile, 16, causal, bool_mask)
    tensors = qkv(dtype, (21, 43), (heads, key_heads))
    mask = torch.rand(heads, 1, 43, generator=torch.Generator().manual_seed(2)) > 0.3
    compare(module, *tensors, mask, bounds=BOUNDS[dtype])


def test_the_heads_of_a_group_are_the_rows_of_a_decoding_step() -> None:
    compare(programs.decode("bf16", 32, 2, 64), *qkv("bf16", (1, 83), (32, 2), 64), bounds=BOUNDS["bf16"])


@pytest.mark.parametrize(("dtype", "storage", "causal"), [("f32", "smem", True), ("f16", "rmem", True)])
def test_tiles_and_fragments(dtype: str, storage: str, causal: bool) -> None:
    q, k, v = (x[:1] for x in qkv(dtype, (16, 24), (2, 1), 16))
    compare(programs.tiles(dtype, storage, causal), q, k, v, bounds=BOUNDS[dtype])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_the_loop_is_pipelined_and_runs_on_tensor_cores(tmp_path: Path, dtype: str) -> None:
    module = programs.attention_op(dtype, 32, 8, 128, 128, rows=128, causal=True)
    [text] = compile_ptx(emit_module(lower(module, TARGET), TARGET), CompilerOptions(), tmp_path).values()
    found = set(re.findall(r"\b(mma\.sync|wgmma\.mma_async)\S*\.(f16|bf16)\b", text))
    assert found == {("wgmma.mma_async", dtype)}
    assert "cp.async" in text and "ldmatrix" not in text
    # The softmax's weights are multiplied from registers: four of them and one descriptor.
    assert re.search(r"wgmma\.mma_async\S+\s+\{[^}]*\},\s*\{%r\d+,\s*%r\d+,\s*%r\d+,\s*%r\d+\},\s*%rd\d+", text)


def test_weights_that_tensor_cores_do_not_take_as_they_lie_are_staged(tmp_path: Path) -> None:
    module = programs.attention_op("f16", 2, 2, 40, 8, rows=16)
    [text] = compile_ptx(emit_module(lower(module, TARGET), TARGET), CompilerOptions(), tmp_path).values()
    assert len(re.findall(r"mma\.sync\S*m16n8k16", text)) > 2 and "ldmatrix" in text


@pytest.mark.parametrize(
    ("module", "words", "remedy"),
    [
        (
            lambda: programs.head_tiles("f32", 8, 2, 8, 16, False, False),
            "cannot be proven to read one key head",
            "h in",
        ),
        (lambda: programs.tiles("f32", "smem", False, key_heads=2), "got 2 key heads", "in global memory"),
        (lambda: programs.odd_tiles("batches"), "a tile of tf.attention covers one batch, got 2", "walk the batches"),
        (lambda: programs.odd_tiles("extents"), r"a tile has static extents, got \(1, 1, S, 32\)", "for i in tile"),
        (lambda: programs.odd_tiles("width"), "has a static width, got T", "declare the axis with a number"),
        (lambda: programs.odd_tiles("steps"), "a window has unit steps", "select of them"),
    ],
)
def test_refusals(module: Any, words: str, remedy: str) -> None:
    built: Module = module()
    with pytest.raises(TileFoundryError, match=words) as error:
        lower(built)
    assert remedy in str(error.value)
