"""conv2d against torch, and against its definition in f64."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType
from tilefoundry.python import func

CASES = [
    ((2, 3, 8, 9), (4, 3, 3, 2), {}),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((2, 4, 9, 8), (6, 2, 3, 3), {"groups": 2, "dilation": 2, "padding": 1}),
    ((2, 3, 8, 9), (4, 3, 3, 3), {"stride": (2, 3), "padding": (1, 0)}),
    ((0, 3, 4, 4), (4, 3, 3, 3), {}),
    ((2, 0, 4, 4), (4, 0, 3, 3), {}),
    ((2, 3, 4, 4), (0, 3, 3, 3), {}),
]


def by_definition(x, w, bias, stride=1, padding=0, dilation=1, groups=1):
    """Sums over the kernel's positions, of channels by a matrix product."""
    (sh, sw), (ph, pw), (dh, dw) = (v if isinstance(v, tuple) else (v, v) for v in (stride, padding, dilation))
    x = torch.nn.functional.pad(x, (pw, pw, ph, ph))
    oh = (x.shape[2] - dh * (w.shape[2] - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (w.shape[3] - 1) - 1) // sw + 1
    parts = []
    for xs, ws in zip(x.chunk(groups, 1), w.chunk(groups, 0), strict=True):
        total = torch.zeros(x.shape[0], ws.shape[0], oh, ow, dtype=x.dtype)
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                at = xs[:, :, i * dh : i * dh + sh * (oh - 1) + 1 : sh, j * dw : j * dw + sw * (ow - 1) + 1 : sw]
                total += torch.einsum("nchw,oc->nohw", at, ws[:, :, i, j])
        parts.append(total)
    return torch.cat(parts, 1) + bias[:, None, None]


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize(("x", "w", "attributes"), CASES)
def test_against_its_definition(x, w, attributes, dtype):
    kind = DType.from_name(dtype)
    x, w, bias = sample(x, kind, 1), sample(w, kind, 2), sample(w[:1], kind, 3)
    exact = by_definition(x.double(), w.double(), bias.double(), **attributes)
    torch.testing.assert_close(apply("conv2d", x, w, bias, **attributes, precision="f64"), exact, rtol=0, atol=0)
    assert_same(apply("conv2d", x, w, **attributes, precision="f64"), exact - bias.double()[:, None, None])
    if exact.numel() and x.numel():
        assert_same(apply("conv2d", x, w, bias, **attributes), torch.nn.functional.conv2d(x, w, bias, **attributes))


H = DimVar("H", 1, 33)


@func
def edges(x: Tensor[(1, 1, H, H), "f32"], w: Tensor[(1, 1, 3, 3), "f32"]) -> Tensor[(1, 1, H - 2, H - 2), "f32"]:
    return tf.conv2d(x, w)


def test_an_image_smaller_than_the_kernel_is_refused_when_it_comes():
    w = sample((1, 1, 3, 3), DType.f32)
    x = sample((1, 1, 5, 5), DType.f32)
    assert_same(evaluate(edges, x, w), torch.conv2d(x, w))
    with pytest.raises(EvalError, match=r"conv2d: the kernel of extent 3 does not fit axis 2 of input, of extent 2"):
        evaluate(edges, x[:, :, :2, :2].contiguous(), w)


@func
def biased(
    x: Tensor[(1, 2, 4, 4), "f32"], w: Tensor[(2, 1, 3, 3), "f32"], b: Tensor[(2,), "f32"]
) -> Tensor[(1, 2, 2, 2), "f32"]:
    return tf.conv2d(x, w, b, stride=2, padding=1, groups=2) + tf.conv2d(x, w, bias=b, padding=1, groups=2, stride=2)


def test_the_bias_may_be_named():
    x, w, b = sample((1, 2, 4, 4), DType.f32, 1), sample((2, 1, 3, 3), DType.f32, 2), sample((2,), DType.f32, 3)
    assert_same(evaluate(biased, x, w, b), 2 * torch.conv2d(x, w, b, 2, 1, 1, 2))


def test_under_vmap():
    apply_to_each("conv2d", sample((3, 2, 4, 5, 5), DType.f64, 1), sample((3, 6, 2, 3, 3), DType.f64, 2), groups=2)
