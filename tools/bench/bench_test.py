"""The benchmarks run, and what they say about memory holds at a small size, too. Times are for people to read."""

from __future__ import annotations

import re

import pytest
import torch

from tools.bench import check, read
from tools.bench.measuring import costs


def test_peak_memory_is_that_of_the_work_alone() -> None:
    def hold(mebibytes: int) -> torch.Tensor:
        return torch.ones(mebibytes * 2**18)

    found = costs({"much": lambda: hold(96), "little": lambda: hold(32), "brief": lambda: hold(64).sum()}, 2)
    for name, expected in (("much", 96), ("little", 32), ("brief", 64)):
        assert abs(found[name].bytes / 2**20 - expected) < 8, found
        assert found[name].seconds > 0


def test_check_needs_no_copy_of_what_it_compares(capsys: pytest.CaptureFixture[str]) -> None:
    check.main(["--mebibytes", "32", "--repeats", "1"])
    shown = capsys.readouterr().out
    ratio = re.search(r"and (\d+\.\d+) times the memory", shown)
    assert ratio is not None, shown
    assert float(ratio[1]) < 1
    assert len(re.findall(r"ms +\d+\.\d MiB", shown)) == 3


def test_read_reads_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    read.main(["--mebibytes", "8", "--tensors", "4", "--repeats", "1"])
    assert re.search(r"SafetensorsResource takes \d+\.\d+ times the time", capsys.readouterr().out)
