"""What outlives what: tensors, functions and modules in every order, threads, forks, and the end of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.pipeline import load
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.target import CpuTarget


@pytest.fixture(scope="module")
def axpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose entry is ``alpha * x + y``."""
    return write_artifact(axpy_module(CpuTarget()), CompilerOptions(), tmp_path_factory.mktemp("axpy"), "axpy", {})


# More rows than threads, so that the pool of threads takes part. `check` asks for the exact value.
_PROLOGUE = """
import atexit, gc, itertools, os, signal, sys, threading
import numpy, torch
from pathlib import Path
from tilefoundry.driver import load
path = Path(sys.argv[1])
x, y = torch.arange(256.0).reshape(64, 4), torch.ones(64, 4)
def check(f, scale=2.0):
    assert torch.equal(f(scale, x, y), scale * x + y)
"""


def run(code: str, library: Path) -> str:
    """Runs `code` in an interpreter of its own, which has to end well and say nothing on stderr."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "TILEFOUNDRY_NUM_THREADS": "4",
        "PYTHONFAULTHANDLER": "1",
        "MALLOC_PERTURB_": "165",  # freed memory is overwritten: what is used after it was freed shows
    }
    command = [sys.executable, "-c", _PROLOGUE + code, str(library)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_tensors_functions_and_modules_outlive_each_other_in_every_order(axpy: Path) -> None:
    said = run(
        """
from tilefoundry.runtime.library import open_library
orders = 0
for order in itertools.permutations(("function", "module", "bound", "input", "out")):
    module = load(path)
    function = open_library(path).get_function("axpy")
    names = {"function": function, "module": module, "bound": module.forward, "input": x.clone()}
    names["out"] = numpy.from_dlpack(module(2.0, names["input"], y))
    del function, module
    for name in order:
        del names[name]
        if "module" in names: check(names["module"])
        if "bound" in names: check(names["bound"])
        if "function" in names:
            fresh = torch.empty(64, 4)
            names["function"](3.0, x, y, fresh)
            assert torch.equal(fresh, 3 * x + y)
        if "input" in names: assert torch.equal(names["input"], x)
        if "out" in names: assert torch.equal(torch.from_numpy(names["out"]), 2 * x + y)
    orders += 1
    if orders % 12 == 0: gc.collect()
print(orders)
""",
        axpy,
    )
    assert said == "120\n"


@pytest.mark.parametrize("kept", ["module, module.forward, module(2.0, x, y)", "numpy.from_dlpack(module(2.0, x, y))"])
def test_the_interpreter_ends_well_whatever_is_left(axpy: Path, kept: str) -> None:
    run(
        f"""
module = load(path)
check(module)
kept = {kept}
cycle = [kept]
cycle.append(cycle)  # freed by the last collection, if at all
del module
sys.kept = kept      # of a module that goes late
""",
        axpy,
    )


def test_the_last_handlers_may_still_call(axpy: Path) -> None:
    said = run(
        """
module = load(path)
def at_the_end(module):
    check(module)
    print("called")
atexit.register(at_the_end, module)
class Last:
    def __init__(self, module): self.module = module
    def __del__(self): self.module(1.0, self.x, self.y)
last = Last(module)
last.x, last.y = x, y
del module
""",
        axpy,
    )
    assert said == "called\n"


def test_threads_share_a_module_and_may_outlive_the_main_one(axpy: Path) -> None:
    said = run(
        """
module = load(path)
start, failed = threading.Barrier(8), []
def work(scale):
    start.wait()
    try:
        for _ in range(300): check(module, scale)
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work, args=(float(i),)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
def later():
    mine = load(path)
    threading.main_thread().join()
    for _ in range(50): check(mine)
    print("later")
threading.Thread(target=later).start()
del module
""",
        axpy,
    )
    assert said == "later\n"


def test_a_forked_child_calls_and_loads_while_threads_of_its_parent_do(axpy: Path) -> None:
    said = run(
        """
module = load(path)
stop = threading.Event()
def busy():
    while not stop.is_set(): module(2.0, x, y)
threads = [threading.Thread(target=busy) for _ in range(2)]
check(module)  # the pool has its threads, of which a child inherits none
for kind in range(6):
    if kind == 2:
        for thread in threads: thread.start()
    child = os.fork()
    if child == 0:
        stop.set()
        signal.alarm(60)
        for scale in (1.0, 2.0, 3.0): check(module, scale)
        check(load(path))
        if kind: os._exit(0)
        sys.exit(0)
    check(module)
    _, status = os.waitpid(child, 0)
    assert status == 0, (kind, status)
stop.set()
for thread in threads: thread.join()
print("children")
""",
        axpy,
    )
    assert said == "children\n"


def test_a_library_that_is_rebuilt_at_its_path_is_another(axpy: Path, tmp_path: Path) -> None:
    x = torch.ones(2, 3)
    library = write_artifact(axpy_module(CpuTarget()), CompilerOptions(), tmp_path, "axpy", {})
    before = load(library)
    write_artifact(axpy_module(CpuTarget(), bias=10), CompilerOptions(), tmp_path, "axpy", {})
    after = load(library)
    for _ in range(2):
        assert torch.equal(torch.as_tensor(before(2.0, x, x)), 3 * x)
        assert torch.equal(torch.as_tensor(after(2.0, x, x)), 13 * x)
    library.unlink()
    assert torch.equal(torch.as_tensor(after(1.0, x, x)), 12 * x)
