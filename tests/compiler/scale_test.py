"""Kernels of f8e8m0, the format of block scales, against torch's float8_e8m0fnu: bit by bit."""

from __future__ import annotations

import pytest
import torch

import tilefoundry
from tests.compiler import scale_programs as programs
from tests.compiler.running import compiled

E8M0 = torch.float8_e8m0fnu


def same(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal bits; a NaN, of which wider formats have many, equals any other."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.is_floating_point() and expected.dtype is not E8M0:
        torch.testing.assert_close(found.double(), expected.double(), rtol=0, atol=0, equal_nan=True)
    else:
        assert torch.equal(found.view(torch.uint8), expected.view(torch.uint8))


def test_every_f32_is_rounded_as_torch_rounds() -> None:
    """All upper halves of a float, each with the lower halves beside which rounding turns."""
    kernel = compiled(programs.Rounded)
    upper = torch.arange(programs.COUNT, dtype=torch.int64) << 16
    for lower in (0, 1, 0x7FFF, 0x8000, 0xFFFF):
        x = (upper | lower).to(torch.int32).view(torch.float32)
        same(kernel(x), x.to(E8M0))
        same(tilefoundry.evaluate(programs.Rounded, x), x.to(E8M0))


def test_every_code_is_cast_as_torch_casts() -> None:
    codes = torch.arange(1024).to(torch.uint8).view(E8M0)
    every = zip(compiled(programs.Widened)(codes), tilefoundry.evaluate(programs.Widened, codes), strict=True)
    for found, evaluated in every:
        same(found, evaluated)
        # fp8e4m3 saturates here, and of integers torch leaves open what lies beyond their ends
        if found.is_floating_point() and found.dtype is not torch.float8_e4m3fn:
            same(found, codes.to(found.dtype))


OTHERS = {
    "f64": torch.float64,
    "bf16": torch.bfloat16,
    "fp8e5m2": torch.float8_e5m2,
    "i32": torch.int32,
    "bool": torch.bool,
}


@pytest.mark.parametrize("dtype", OTHERS)
def test_every_type_is_cast_as_torch_casts(dtype: str) -> None:
    like, steps = OTHERS[dtype], torch.arange(programs.COUNT) - programs.COUNT // 2
    if dtype == "f64":  # rounded to f32 first, as torch does
        x = torch.ldexp(1.5 + steps.sign() * 2.0 ** -(20 + steps.abs() % 16).double(), steps // 128)
    elif like.is_floating_point:
        x = steps.to({1: torch.uint8, 2: torch.int16}[like.itemsize]).view(like)
    else:
        x = (steps * 3).to(like)
    same(compiled(programs.narrowed(dtype))(x), x.to(E8M0))
    same(tilefoundry.evaluate(programs.narrowed(dtype), x), x.to(E8M0))


def test_blocks_are_scaled() -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(128, 64, generator=generator).mul(30).to(torch.float8_e4m3fn)
    scale = torch.randint(100, 150, (128, 2), generator=generator).to(torch.uint8).view(E8M0)
    expected = (x.float() * scale.float().repeat_interleave(32, 1)).bfloat16()
    same(compiled(programs.Scaled)(x, scale), expected)
    same(tilefoundry.evaluate(programs.Scaled, x, scale), expected)


@pytest.mark.parametrize("module", [programs.Moved, programs.Computed], ids=["moved", "computed"])
def test_elements_are_moved_and_computed(module: tilefoundry.Module) -> None:
    generator = torch.Generator().manual_seed(2)
    x, y = torch.randint(110, 140, (2, 128, 6), generator=generator).to(torch.uint8).view(E8M0)
    x.view(torch.uint8)[3, 1:3] = torch.tensor([0, 254], dtype=torch.uint8)
    rows = (torch.tensor([3, 0, 127, 3], dtype=torch.int32),) if module is programs.Moved else ()
    found = compiled(module)(x, y, *rows)
    expected = tilefoundry.evaluate(module, x, y, *rows)
    assert len(found) == len(expected) > 7
    for value, known in zip(found, expected, strict=True):
        same(value, known)
