"""How a rate is judged, and what counts as a wrong result."""

from __future__ import annotations

import math

import pytest
import torch

from tools.bench.device_ops import bench


@pytest.mark.parametrize(
    ("reached", "fault", "passed"), [(3.6, "", True), (3.5, "", False), (4.4, "", True), (4.0, "rel_l2 1", False)]
)
def test_a_rate_passes_at_nine_tenths_of_its_ceiling_and_right(reached: float, fault: str, passed: bool) -> None:
    rate = bench.Rate("copy", reached, 4.0, "TB/s", fault)
    assert rate.ratio == pytest.approx(reached / 4.0)
    assert rate.passed is passed


def test_a_wrong_an_unwritten_and_a_rounded_result() -> None:
    x = torch.randn(1000)
    assert bench._difference(x.bfloat16(), x) == ""
    assert bench._difference(2 * x, x).startswith("rel_l2")
    assert bench._difference(torch.full_like(x, math.nan), x) == "rel_l2 nan"
    some = torch.arange(4, dtype=torch.uint8)
    assert bench._difference(some, some) == ""
    assert bench._difference(some, some + 1) == "bytes differ"


def test_tensors_cross_as_the_kernels_take_them() -> None:
    x = torch.zeros(4, 6)[:, :5]
    packed = bytes(bench.DeviceOps._pack(x, x[0]))
    words = [int.from_bytes(packed[i : i + 8], "little") for i in range(0, 64, 8)]
    assert words == [x.data_ptr(), 4, 5, 6, 1, x.data_ptr(), 5, 1]
