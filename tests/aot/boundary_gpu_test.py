"""The boundary of a CUDA entry, on a GPU: streams, devices, graphs, threads, errors.

With TILEFOUNDRY_KERNELS the libraries are taken from that folder, else they are compiled here.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tilefoundry.codegen.host import emit_host
from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.diagnostics import LaunchError
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.runtime import CompiledModule
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CudaTarget

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


def library(module: LinkableModule, folder: Path) -> CompiledModule:
    """The library of this module, prebuilt or compiled into `folder`."""
    name = module.entry.name
    built = os.environ.get("TILEFOUNDRY_KERNELS")
    path = (
        Path(built) / f"{name}.so" if built else write_artifact(module, CompilerOptions(), folder, name, {"sm_90a": ""})
    )
    return load_linked_module(read_artifact(path))


@pytest.fixture(scope="module")
def axpy(tmp_path_factory: pytest.TempPathFactory) -> CompiledModule:
    return library(axpy_module(CudaTarget()), tmp_path_factory.mktemp("axpy"))


def x(*shape: int) -> torch.Tensor:
    return torch.arange(shape[0] * shape[1], dtype=torch.float32, device="cuda").reshape(shape)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (4, 64), (129, 33), (5000, 12)])
def test_any_view_gives_the_right_value(axpy: CompiledModule, shape: tuple[int, int]) -> None:
    m, n = shape
    for a, b, out in (
        (x(m, n), x(m, n), torch.empty(m, n, device="cuda")),
        (x(n, m).t(), x(m, n), torch.empty(n, m, device="cuda").t()),
        (x(m, 2 * n)[:, ::2], x(m + 1, n)[1:], torch.empty(m, n + 3, device="cuda")[:, 2:-1]),
    ):
        want = 2 * a + b
        out.fill_(float("nan"))
        assert axpy(2.0, a, b, out) is out
        assert torch.equal(out, want)


def test_outputs_are_on_the_inputs_device(axpy: CompiledModule) -> None:
    out = axpy(2.0, x(3, 4), x(3, 4))
    assert isinstance(out, torch.Tensor) and out.device == x(1, 1).device and torch.equal(out, 3 * x(3, 4))


def test_zero_extents_launch_nothing(axpy: CompiledModule) -> None:
    assert axpy(2.0, torch.empty(0, 4, device="cuda"), torch.empty(0, 4, device="cuda")).shape == (0, 4)  # type: ignore[attr-defined]
    torch.cuda.synchronize()


def test_a_cpu_tensor_is_refused_by_name(axpy: CompiledModule) -> None:
    with pytest.raises(ValueError, match="argument 'x' must be a kDLCUDA tensor"):
        axpy(2.0, torch.ones(2, 3), x(2, 3))
    with pytest.raises(ValueError, match="argument 'y' must be a kDLCUDA tensor"):
        axpy(2.0, x(2, 3), torch.ones(2, 3))


def test_a_scalar_may_lie_on_the_device(axpy: CompiledModule) -> None:
    assert torch.equal(axpy(torch.tensor(2.0, device="cuda"), x(2, 3), x(2, 3)), 3 * x(2, 3))  # type: ignore[arg-type]


def test_it_runs_on_the_callers_stream(axpy: CompiledModule) -> None:
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    a, out = torch.zeros(2000, 500, device="cuda"), torch.empty(2000, 500, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # type: ignore[no-untyped-call]  # a launch on any other stream would read the zeros
        a.fill_(1.0)
        axpy(2.0, a, a, out)
    stream.synchronize()
    assert bool((out == 3).all())


def test_a_graph_replays_with_changed_inputs(axpy: CompiledModule) -> None:
    a, out = x(64, 64).clone(), torch.empty(64, 64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        axpy(2.0, a, a, out)
    for value in (1.0, 5.0):
        a.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert bool((out == 3 * value).all())


def test_threads_call_at_once(axpy: CompiledModule) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
            for i in range(50):
                a = torch.full((100, 100), float(seed * 100 + i), device="cuda")
                if not torch.equal(axpy(2.0, a, a), 3 * a):  # type: ignore[arg-type]
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_first_call_of_a_fresh_thread(axpy: CompiledModule) -> None:
    a = x(4, 4)
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(axpy(2.0, a, a, torch.empty_like(a))))
    thread.start()
    thread.join()
    assert torch.equal(results[0], 3 * a)  # type: ignore[arg-type]


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_each_call_runs_on_its_tensors_device(axpy: CompiledModule) -> None:
    a = x(8, 8).to("cuda:1")
    before = torch.cuda.current_device()
    out = axpy(2.0, a, a)
    assert torch.cuda.current_device() == before and torch.equal(out, 3 * a)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="argument 'y' is on cuda:0, but argument 'x' is on cuda:1"):
        axpy(2.0, a, x(8, 8))


def test_a_launch_error_names_the_kernel(tmp_path: Path) -> None:
    module = axpy_module(CudaTarget(), "greedy")
    units = tuple(dataclasses.replace(unit, shared_bytes=999999) for unit in module.units)
    greedy = library(dataclasses.replace(module, units=units, host_source=emit_host(units, CudaTarget())), tmp_path)
    with pytest.raises(LaunchError, match="kernel 'greedy' on cuda:0: 999999 bytes of shared memory: CUDA_ERROR"):
        greedy(2.0, x(2, 2), x(2, 2))


def measure(call: Callable[[], object], count: int = 20000) -> float:
    """Seconds for one call on the host, launches included."""
    for _ in range(200):
        call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(count // 20):
            call()
        best = min(best, (time.perf_counter() - started) / (count // 20))
        torch.cuda.synchronize()
    return best


def test_the_cost_of_a_call_is_printed(axpy: CompiledModule, capsys: pytest.CaptureFixture[str]) -> None:
    a, out = x(4, 64), torch.empty(4, 64, device="cuda")
    given, allocated = measure(lambda: axpy(2.0, a, a, out)), measure(lambda: axpy(2.0, a, a))
    with capsys.disabled():
        print(f"\ncall with given outputs {given * 1e6:.2f} us, allocating {allocated * 1e6:.2f} us")
    assert given < 50e-6
