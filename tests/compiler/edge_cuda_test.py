"""What only a GPU has: streams, graphs, devices, residency. Runs where TILEFOUNDRY_TEST_TARGET=cuda (the bundle)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.compiler import edge_programs as programs
from tests.compiler.running import TARGET
from tilefoundry import jit

pytestmark = pytest.mark.skipif(TARGET != "cuda", reason="needs a GPU and TILEFOUNDRY_TEST_TARGET=cuda")

Kernel = Callable[..., Any]


def whole(rows: int, seed: int) -> torch.Tensor:
    """Small integers, so that sums are exact."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(1, 100, (rows, 32), generator=generator).float().cuda()


def shares(a: torch.Tensor, times: int = 1) -> torch.Tensor:
    scaled = times * a
    return scaled / scaled.sum()


@pytest.fixture(params=["shares", "chain"])
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """One kernel with a grid barrier and a workspace, or four kernels with tensors between them; gives the shares."""
    compiled = jit(getattr(programs, request.param), target="cuda")
    if request.param == "shares":
        return compiled
    return lambda a, out: compiled(a, torch.empty_like(a), out)


def factor(request: pytest.FixtureRequest) -> int:
    return 5 if "chain" in request.node.name else 1


def test_two_streams_at_once(kernel: Kernel, request: pytest.FixtureRequest) -> None:
    streams = [torch.cuda.Stream() for _ in range(2)]  # type: ignore[no-untyped-call]
    results: list[tuple[torch.Tensor, torch.Tensor]] = []
    for turn in range(200):
        with torch.cuda.stream(streams[turn % 2]):
            a = whole(100, turn)
            out = torch.full_like(a, float("nan"))
            kernel(a, out)
            results.append((a, out))
    torch.cuda.synchronize()
    for a, out in results:
        assert torch.equal(out, shares(a, factor(request)))


def test_two_threads_at_once(kernel: Kernel, request: pytest.FixtureRequest) -> None:
    times = factor(request)
    wrong: list[int] = []

    def work(seed: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
            for turn in range(100):
                a = whole(64 + seed, 1000 * seed + turn)
                out = torch.full_like(a, float("nan"))
                kernel(a, out)
                if not torch.equal(out, shares(a, times)):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_graph_replays_with_changed_inputs(kernel: Kernel, request: pytest.FixtureRequest) -> None:
    a = whole(77, 0)
    out = torch.empty_like(a)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(a, out)
    for seed in range(1, 20):
        a.copy_(whole(77, seed))
        out.fill_(float("nan"))
        graph.replay()
        assert torch.equal(out, shares(a, factor(request)))


def test_memory_is_the_frameworks_and_given_back(kernel: Kernel) -> None:
    a = whole(1 << 16, 0)
    out = torch.empty_like(a)
    kernel(a, out)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        kernel(a, out)
    assert torch.cuda.memory_allocated() == before


class OnTheDevice:
    """A tensor that is no torch tensor: DLPack only, so that a call on such has no framework to allocate for it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> object:
        return self.tensor.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_without_a_framework_memory_comes_from_the_driver() -> None:
    kernel = jit(programs.chain, target="cuda")
    for turn in range(50):
        a = whole(1 << 12, turn)
        four, out = torch.empty_like(a), torch.empty_like(a)
        torch.cuda.synchronize()
        kernel(*map(OnTheDevice, (a, four, out)))
        torch.cuda.synchronize()
        assert torch.equal(four, 4 * a) and torch.equal(out, shares(a, 5))


def test_the_most_ctas_that_are_resident_may_meet() -> None:
    kernel = jit(programs.crowd_host, target="cuda")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for rows in (1, processors, 8 * processors):
        out = torch.zeros(rows, 32, device="cuda")
        for _ in range(20):
            kernel(out)
        assert bool((out == 1).all())


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_each_call_runs_on_its_tensors_device(kernel: Kernel, request: pytest.FixtureRequest) -> None:
    a = whole(50, 0).to("cuda:1")
    out = torch.empty_like(a)
    before = torch.cuda.current_device()
    kernel(a, out)
    assert torch.cuda.current_device() == before
    assert torch.equal(out, shares(a, factor(request)))
