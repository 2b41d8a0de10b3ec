# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""`tf.conv2d`, compiled: windows of its result as implicit products of matrices, against the convolution in f64."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.compiler.running import compare
from tilefoundry import DimVar, Mesh, TileFoundryError, Topology, func, module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.runtime import AllClose
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
N, H, W, G = (DimVar(name, 1, 1 << 12) for name in "NHWG")
TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


def conv(
    dtype: str,
    channels: tuple[int, int],
    kernel: tuple[int, int] = (3, 3),
    tiles: tuple[int, int, int] = (16, 2, 8),
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    dilation: tuple[int, int] = (1, 1),
    groups: int = 1,
    biased: bool = True,
) -> Module:
    """Tiles of (channels, rows, columns): as an accumulator of tensor cores, or with the columns over the threads."""
    (C, OUT), (KH, KW), (TO, TI, TJ) = channels, kernel, tiles
    CG = C // groups
    OH, OW = (
        (extent + 2 * p - d * (k - 1) - 1) // s + 1
        for extent, p, d, k, s in zip((H, W), padding, dilation, kernel, stride, strict=True)
    )
    matrix, single = TO % 16 == 0, TO == 1

    @module(entry="f", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
    class P:
        @func
        def f(
            x: Tensor[(N, C, H, W), dtype], w: Tensor[(OUT, CG, KH, KW), dtype], b: Tensor[(OUT,), dtype]
        ) -> Tensor[(N, OUT, OH, OW), dtype]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8, 4), ("g", "t")) as t:
                if biased:
                    y = tf.conv2d(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
                else:
                    y = tf.conv2d(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
                out = tf.zeros(Tensor[(N, OUT, OH, OW), dtype])
                for n in range(N) @ cta.c:
                    for o in tile(OUT, TO) @ cta.c:
                        for i in tile(OH, TI) @ cta.c:
                            for j in tile(OW, TJ) @ cta.c:
                                if matrix:
                                    r = tf.reshard(y[n, o, i, j], (TO // 8, 8 @ t.g, TI, TJ // 8, 4 @ t.t, 2), "rmem")
                                elif single:
                                    r = tf.reshard(y[n, o, i, j], (1, TI // 4, 4 @ t.t, 8 @ t.g, TJ // 8), "rmem")
                                else:
                                    r = tf.reshard(y[n, o, i, j], (TO // 4, 4 @ t.t, TI, 8 @ t.g, TJ // 8), "rmem")
                                out = tf.insert_slice(out, r, (n, o, i, j))
            return out

    return P


def operands(dtype: str, channels: tuple[int, int], kernel=(3, 3), size=(9, 13), groups: int = 1, batch: int = 2):
    """Noise, with kernels scaled so that results are near 1."""
    (c, o), generator = channels, torch.Generator().manual_seed(sum(channels))
    x = torch.randn((batch, c, *size), generator=generator)
    w = torch.randn((o, c // groups, *kernel), generator=generator) / (c // groups * kernel[0] * kernel[1]) ** 0.5
    return [v.to(TORCH[dtype]) for v in (x, w, torch.randn(o, generator=generator))]


# Sums of up to 600 terms, each up to 4: in f32 they round to some 2^-21, of 16-bit types the result rounds once more.
BOUNDS = {
    "f64": [AllClose(atol=1e-13, rtol=0)],
    "f32": [AllClose(atol=2**-18, rtol=0)],
    "f16": [AllClose(atol=2**-18, rtol=2**-10)],
    "bf16": [AllClose(atol=2**-18, rtol=2**-7)],
}


@pytest.mark.parametrize(
    ("dtype", "channels", "attributes"),
    [
        ("bf16", (24, 40), {"padding": (1, 1)}),
        ("f16", (3, 16), {"kernel": (7, 7), "stride": (2, 2), "padding": (3, 3)}),
        ("f32", (10, 12), {"kernel": (1, 1), "stride": (2, 1), "tiles": (4, 3, 8), "biased": False}),
        ("f32", (6, 8), {"kernel": (2, 3), "dilation": (3, 2), "padding": (2, 0), "tiles": (8, 1, 16)}),
        ("f32", (12, 8), {"groups": 4, "tiles": (1, 4, 8), "padding": (0, 2), "stride": (1, 3)}),
        ("bf16", (40, 32), {"groups": 2, "padding": (1, 1), "dilation": (2, 1), "stride": (1, 2)}),
        ("f64", (5, 8), {"padding": (1, 0), "tiles": (4, 2, 8)}),
        ("f16", (12, 12), {"groups": 12, "tiles": (4, 2, 8), "padding": (1, 1), "stride": (2, 1)}),
    ],
    ids=str,
)
def test_against_the_convolution(dtype: str, channels: tuple[int, int], attributes: dict) -> None:
    kernel, groups = attributes.get("kernel", (3, 3)), attributes.get("groups", 1)
    tensors = operands(dtype, channels, kernel, groups=groups)
    compare(conv(dtype, channels, **attributes), *tensors, bounds=BOUNDS[dtype])


def test_tensor_cores_read_the_channels_of_a_place_at_once(tmp_path: Path) -> None:
    module = conv("bf16", (64, 64), padding=(1, 1), tiles=(32, 4, 16))
    [text] = compile_ptx(emit_module(lower(module, TARGET), TARGET), CompilerOptions(), tmp_path).values()
    assert re.search(r"mma\.sync\S*m16n8k16\S*bf16", text) and "ldmatrix" in text
    assert not re.search(r"ldmatrix\S*trans", text)  # both operands lie with the channels innermost


@pytest.mark.parametrize(
    ("build", "words", "remedy"),
    [
        (lambda: conv("f32", (8, 8), groups=2, tiles=(8, 2, 8)), "cannot be proven to lie in one group of 4", "one by"),
        (
            lambda: shared_tiles(),
            "tf.conv2d of tiles in smem cannot be compiled",
            "leave the operands in global memory",
        ),
        (
            lambda: whole_result(),
            "the value of tf.conv2d is written to global memory before it is placed",
            "walk it in tiles",
        ),
    ],
)
def test_refusals(build, words: str, remedy: str) -> None:
    built = build()
    with pytest.raises(TileFoundryError, match=words) as error:
        lower(built)
    assert remedy in str(error.value)


def shared_tiles() -> Module:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class P:
        @func
        def f(x: Tensor[(1, 4, 8, 8), "f32"], w: Tensor[(4, 4, 1, 1), "f32"]) -> Tensor[(1, 4, 8, 8), "f32"]:
            with Mesh(("thread",), (8, 4), ("g", "t")) as t:
                y = tf.conv2d(tf.reshard(x, (1, 4, 8, 8), "smem"), tf.reshard(w, (4, 4, 1, 1), "smem"))
                return tf.reshard(tf.reshard(y, (1, 4 @ t.t, 8 @ t.g, 8), "rmem"), (1, 4, 8, 8), "gmem")

    return P


def whole_result() -> Module:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class P:
        @func
        def f(x: Tensor[(1, 4, 8, 8), "f32"], w: Tensor[(4, 4, 1, 1), "f32"]) -> Tensor[(1, 4, 8, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)):
                return tf.conv2d(x, w)

    return P
