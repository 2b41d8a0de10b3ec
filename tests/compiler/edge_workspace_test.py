"""Calls that need memory of their own: intermediate tensors, counters of barriers; alone, in turn and at once."""

from __future__ import annotations

import re
import resource
import threading
from typing import Any

import numpy as np
import pytest
import torch

from tests.compiler import edge_programs as programs
from tests.compiler.running import TARGET, built, compiled
from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import LaunchError
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget

on_the_cpu = pytest.mark.skipif(TARGET != "cpu", reason="looks at the memory of the host")


def poisoned(rows: int) -> torch.Tensor:
    return torch.full((rows, 32), float("nan"))


def whole(rows: int, seed: int = 0) -> torch.Tensor:
    """Small integers, so that sums are exact."""
    return torch.randint(1, 100, (rows, 32), generator=torch.Generator().manual_seed(seed)).float()


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100])
def test_ctas_meet_in_the_middle_of_a_kernel(rows: int) -> None:
    kernel = compiled(programs.shares)
    for turn in range(3):
        a, out = whole(rows, turn), poisoned(rows)
        kernel(a, out)
        assert torch.equal(out, a / a.sum())


@pytest.mark.parametrize("times", [0, 1, 5])
def test_ctas_meet_again_and_again_and_update_in_place(times: int) -> None:
    x = whole(8)
    expected = x.clone()
    for _ in range(times):
        expected = expected + expected.roll(-1, 0)
    kernel = compiled(programs.smoothed)
    assert torch.equal(kernel(x, times), expected)
    assert torch.equal(x, expected)


@pytest.mark.parametrize("rows", [1, 6, 64])
def test_kernels_of_one_entry_hand_tensors_on(rows: int) -> None:
    a, four, out = whole(rows), poisoned(rows), poisoned(rows)
    compiled(programs.chain)(a, four, out)
    assert torch.equal(four, 4 * a)
    assert torch.equal(out, (5 * a) / (5 * a).sum())
    made = compiled(programs.chain)(a)
    assert all(torch.equal(x, y) for x, y in zip(made, (four, out), strict=True))


def test_one_tensor_may_be_passed_twice_and_one_kernel_launched_twice() -> None:
    a = whole(9)
    kernel = compiled(programs.eightfold)
    for _ in range(2):
        assert torch.equal(kernel(a), 8 * a)


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_a_workspace_has_the_extents_of_the_call(rows: int) -> None:
    a, out = whole(rows), poisoned(rows)
    compiled(programs.turned_host)(a, out)
    assert torch.equal(out, a.flip(0))


def test_nothing_is_launched_on_no_rows() -> None:
    out = poisoned(0)
    with pytest.raises(ValueError, match="'N'"):  # which starts at 1
        compiled(programs.crowd_host)(out)


def test_a_grid_that_cannot_be_resident_is_refused_with_the_figures() -> None:
    kernel = compiled(programs.crowd_host)
    assert torch.equal(kernel(poisoned(300)), torch.ones(300, 32))
    words = {
        "cpu": "kernel 'crowd': a grid of 100000 CTAs .* above the limit of 6144 MiB; launch fewer CTAs",
        "cuda": "kernel 'crowd' on cuda:0: .* of a grid of 100000 the device holds [0-9]+ at once; launch at most",
    }
    with pytest.raises(LaunchError, match=words[TARGET]):
        kernel(poisoned(100000))
    assert torch.equal(kernel(poisoned(3)), torch.ones(3, 32))


@pytest.mark.parametrize("program", [programs.shares, programs.chain], ids=["barrier", "several kernels"])
def test_threads_call_one_module_at_once(program: Any) -> None:
    kernel = compiled(program)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for turn in range(10):
            a = whole(5 + seed, 100 * seed + turn)
            result = kernel(a)
            shares = result[-1] if isinstance(result, tuple) else result
            times = 5 if isinstance(result, tuple) else 1
            if not torch.equal(shares, (times * a) / (times * a).sum()):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@on_the_cpu
@pytest.mark.parametrize("make", [torch.from_numpy, np.asarray], ids=["the framework's", "its own"])
def test_memory_is_given_back_at_the_end_of_a_call(make: Any) -> None:
    rows = 1 << 15  # two tensors of 4 MiB at each call
    a, four, out = (np.ones((rows, 32), np.float32) for _ in range(3))
    kernel = built(programs.chain)
    kernel(make(a), make(four), make(out))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        kernel(make(a), make(four), make(out))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10, "KiB more than one call took"
    assert (four == 4).all()


def host_source(program: Any, checking: bool = False) -> str:
    return emit_module(lower(normalize_to_module(program), CpuTarget()), CpuTarget(), checking=checking).host_source


def test_the_host_takes_memory_only_where_a_kernel_needs_it() -> None:
    assert "Workspace" not in host_source(programs.doubled)
    chain = host_source(programs.chain)
    assert "workspace.counters(1, bound[6]);" in chain  # of one kernel of four
    assert 'workspace.tensor("two", {dim_N, int64_t{32}}, 4, bound[3]);' in chain
    assert 'workspace.tensor("sums", {int64_t{8}, int64_t{32}}, 4, bound[5]);' in chain


def test_a_tensor_may_lie_where_one_lay_that_no_later_launch_takes() -> None:
    def plan(checking: bool) -> list[str]:
        return re.findall(r"workspace\.(tensor\(\"\w+|release\(bound\[\d)", host_source(programs.chain, checking))

    # "two" goes from the first launch to the second, "five" from the third to the fourth, which has "sums" for itself
    two, rest = ['tensor("two', "release(bound[3"], ['tensor("five', 'tensor("sums']
    assert plan(checking=False) == [*two, *rest, "release(bound[4", "release(bound[5"]
    assert plan(checking=True) == [two[0], *rest]  # which tells tensors apart by their addresses


def test_launches_of_one_kernel_share_its_code() -> None:
    module = emit_module(lower(normalize_to_module(programs.eightfold), CpuTarget()), CpuTarget())
    assert [unit.name for unit in module.units] == ["doubled", "added", "added"]
    assert [unit.name for unit in module.kernels] == ["doubled", "added"]
    assert module.host_source.count("kernel1.launch(") == 2 and "kernel2" not in module.host_source
