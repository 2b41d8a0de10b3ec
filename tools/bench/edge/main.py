"""What stands between a user and a kernel, against what we promise.

    ./bazelw run //tools/bench:edge -- [--target cpu|cuda] [--repeats 400]

A call with given outputs against a bare TVM FFI call that launches the same kernel on the same tensors; `jit` of a
program that the process holds; `jit` of one that the disk holds, in a new process; and the compile of the attention
kernel, step by step. Calls take turns and the best of many batches counts: a busy machine only ever adds. The exit code
is 1 when something takes longer than we promise. What the compilers take, which share the machine with whatever else
runs, is also told in seconds of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from tilefoundry import jit
from tilefoundry.target import CpuTarget, CudaTarget, Target
from tools.bench.edge.calls import Call, Calls
from tools.bench.edge.compiling import compile_attention, shares
from tools.bench.edge.program import added


@dataclass(frozen=True)
class Promise:
    """One measured thing: what we promise, and what was predicted before it was first measured, in seconds."""

    what: str
    limit: float
    predicted: float


CALL = Promise("a call, over the bare one", 1e-6, 0.7e-6)
HELD = Promise("jit of a program that the process holds", 50e-6, 3e-6)
ON_DISK = Promise("jit of a program that the disk holds", 50e-3, 20e-3)
COLD = Promise("a cold compile of attention", 6.0, 4.0)


def main(argv: list[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--repeats", type=int, default=400, help="batches of each call")
    parser.add_argument("--disk", action="store_true", help="time one jit in this process, and print JSON")
    arguments = parser.parse_args(argv)
    if arguments.disk:
        print(json.dumps(one_jit(arguments.target)))
        return 0
    target: Target = CudaTarget("nvidia.h200_sxm") if arguments.target == "cuda" else CpuTarget()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEFOUNDRY_CACHE_DIR"] = str(Path(folder, "cache"))
        kept = [
            calls(target, Path(folder), arguments.repeats),
            held(arguments.target),
            on_disk(arguments.target),
            cold(target),
        ]
    return 0 if all(kept) else 1


def verdict(promise: Promise, seconds: float) -> bool:
    """Prints one result; whether the promise is kept."""
    kept = seconds <= promise.limit
    unit, scale = next(u for u in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if promise.limit * u[1] >= 1 - 1e-9)
    print(
        f"{promise.what}: {seconds * scale:.2f} {unit} (promised {promise.limit * scale:g}, "
        f"predicted {promise.predicted * scale:g}){'' if kept else '  TOO LONG'}"
    )
    return kept


def calls(target: Target, folder: Path, repeats: int) -> bool:
    """Ours against the bare call."""
    compared = Calls.build(target, folder)
    ways: dict[str, Call] = {
        "bare": compared.bare,
        "the entry alone": compared.entry,
        "the compiled module": compared.module,
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, way in ways.items():
            best[name] = min(best[name], compared.seconds(way))
    print("; ".join(f"{name} {seconds * 1e6:.2f} us" for name, seconds in best.items()))
    return verdict(CALL, best["the compiled module"] - best["bare"])


def held(target: str) -> bool:
    """jit of one and the same program."""
    program = added()
    jit(program, target=target)

    def batch() -> float:
        return _seconds(lambda: [jit(program, target=target) for _ in range(100)]) / 100

    return verdict(HELD, min(batch() for _ in range(50)))


def on_disk(target: str) -> bool:
    """jit in new processes, which find the library that `held` left on the disk."""
    command = [sys.executable, "-m", "tools.bench.edge.main", "--disk", "--target", target]
    path = os.pathsep.join(p for p in sys.path if p)
    found = []
    for _ in range(5):
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"a new process failed:\n{done.stderr}")
        found.append(json.loads(done.stdout))
    assert all(f["origin"] == "disk cache" for f in found), found
    return verdict(ON_DISK, min(f["seconds"] for f in found))


def one_jit(target: str) -> dict[str, object]:
    """What the first jit of this process takes, and where the library came from."""
    program = added()
    began = time.perf_counter()
    compiled = jit(program, target=target)
    seconds = time.perf_counter() - began
    assert compiled.build_info is not None
    return {"origin": compiled.build_info.origin, "seconds": seconds}


def cold(target: Target) -> bool:
    """The attention kernel from its program to a callable module, without a cache."""
    found = compile_attention(target)
    print(shares(found))
    print(f"  compilers, side by side on {os.cpu_count()} cores: {found.processor:.2f} s of processor time")
    return verdict(COLD, found.seconds)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
