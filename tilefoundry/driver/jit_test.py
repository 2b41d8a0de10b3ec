"""jit: one object for one program, in the process and from the disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import CompilerOptions, build, compile, jit, load, lower
from tilefoundry.driver.scale_program import THRICE, TWICE
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import CompiledModule
from tilefoundry.target import CpuTarget


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(root))
    jit.cache_clear()


def doubled(compiled: CompiledModule, factor: float = 2.0) -> bool:
    x = torch.randn(37, 64)
    return torch.equal(compiled(x), factor * x)  # type: ignore[arg-type]


def test_the_same_program_is_the_same_object_until_cleared(capfd: pytest.CaptureFixture[str]) -> None:
    first = jit(TWICE, target="cpu")
    assert doubled(first) and jit(TWICE, target="cpu") is first and jit.cache_info() == {"size": 1}
    jit.cache_clear()
    assert jit.cache_info() == {"size": 0}
    second = jit(TWICE, target="cpu")
    assert second is not first and doubled(second)
    assert second.build_info is not None and second.build_info.origin == "disk cache"
    assert capfd.readouterr() == ("", "")


def test_two_modules_of_one_name_are_two_programs() -> None:
    two, three = jit(TWICE, target="cpu"), jit(THRICE, target="cpu")
    assert doubled(two) and doubled(three, 3.0) and doubled(two)
    assert two.linked is not None and three.linked is not None and two.linked.key != three.linked.key


def test_options_and_target_are_part_of_the_key() -> None:
    keys = set()
    for options in (None, CompilerOptions(optimization_level=1)):
        compiled = jit(TWICE, target="cpu", options=options)
        assert doubled(compiled) and compiled.linked is not None
        keys.add(compiled.linked.key)
    assert len(keys) == 2


def test_threads_compile_it_once() -> None:
    results: list[CompiledModule] = []
    threads = [threading.Thread(target=lambda: results.append(jit(THRICE, target="cpu"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(map(id, results))) == 1


_CHILD = """
import sys, torch
from tilefoundry.driver import jit
from tilefoundry.driver.scale_program import THRICE
compiled = jit(THRICE, target="cpu")
x = torch.randn(5, 64)
assert torch.equal(compiled(x), 3 * x)
print(compiled.build_info.origin, compiled.linked.key)
forward = compiled.forward
del compiled, jit
y = forward(x)
del forward
assert torch.equal(y, 3 * x)
"""


def children(count: int, environment: dict[str, str]) -> list[str]:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for seed in range(count)
    ]  # fmt: skip
    results = [(p.communicate(), p.returncode) for p in running]
    assert all(code == 0 and not err for (_, err), code in results), results
    return [out for (out, _), _ in results]


def test_racing_processes_compile_it_once_and_agree_on_the_key(tmp_path: Path) -> None:
    lines = children(4, {"TILEFOUNDRY_CACHE_DIR": str(tmp_path / "raced")})
    origins = sorted(line.split()[0] for line in lines)
    assert origins == ["compiled", "disk", "disk", "disk"]
    assert len({line.split()[-1] for line in lines}) == 1


def test_lower_build_compile_and_load(tmp_path: Path, root: Path) -> None:
    tir = lower(TWICE, "cpu")
    assert doubled(build(tir, "cpu")) and doubled(compile(TWICE, "cpu"))
    jitted = jit(TWICE, target="cpu")
    assert jitted.linked is not None
    loaded = load(jitted.linked.library)
    assert doubled(loaded) and loaded.type == jitted.type
    assert loaded.linked is not None and loaded.linked.key == jitted.linked.key and loaded.source == jitted.source
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.so")


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="@func"):
        jit(lambda x: x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        jit(TWICE, grid=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown target 'gpu'"):
        jit(TWICE, target="gpu")
    with pytest.raises(TypeError, match="target: expected a string or a Target"):
        jit(TWICE, target=[])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="options: expected CompilerOptions, got 3"):
        jit(TWICE, options=3)  # type: ignore[arg-type]
    assert jit(TWICE, target=CpuTarget()) is jit(TWICE, target="cpu")
    headless = Module("headless", TWICE.functions, target=TWICE.target, topologies=TWICE.topologies)
    with pytest.raises(ValueError, match="module 'headless' has no entry\n.*scale"):
        jit(headless)
    with pytest.raises(TypeError, match="compile: expected a Module"):
        compile(TWICE.functions[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("compiles", [jit, compile], ids=["jit", "compile"])
def test_a_cpu_of_another_family_is_refused(compiles: Callable[..., object]) -> None:
    other = next(isa for isa in CpuTarget.ISAS if CpuTarget(isa).family != CpuTarget.default().family)
    with pytest.raises(CompileError, match=f"isa={other}' is built on .* machines only"):
        compiles(TWICE, target=CpuTarget(other))
