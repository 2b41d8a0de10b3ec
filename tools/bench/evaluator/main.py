"""Time and memory of an evaluation unit by unit.

    ./bazelw run //tools/bench/evaluator -- [--size 4096] [--threads 2]

Memory is what the evaluation adds to the process at its peak, input and result included, over the bytes of these two.
Each program runs in a process of its own. The exit code is 1 when one takes more than we promise.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch

from tilefoundry import evaluate
from tools.bench.evaluator.rows import expected, rows, whole

PROGRAMS = {"rows": rows, "whole": whole}
SECONDS, MEMORY = 10.0, 4.0  # what we promise on two cores, at size 4096


def measure(name: str, size: int) -> dict[str, float]:
    """Evaluates one program once in this process, which should do nothing else.

    Returns:
        seconds; memory, as a multiple of the logical bytes; error, the worst one relative to the greatest magnitude.
    """
    make = PROGRAMS[name]
    evaluate(make(256), torch.zeros(256, 256))  # what is loaded and allocated on first use
    function = make(size)
    before = _resident()
    x = torch.randn(size, size, generator=torch.Generator().manual_seed(0))
    start = time.perf_counter()
    value = evaluate(function, x)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert isinstance(value, torch.Tensor)
    logical = x.numel() * x.element_size() + value.numel() * value.element_size()
    wanted = expected(x)[:, : value.shape[1]]
    error = float((value.double() - wanted).abs().max() / wanted.abs().max())
    return {"seconds": seconds, "memory": (peak - before) / logical, "error": error}


def alone(name: str, size: int, threads: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-m", "tools.bench.evaluator.main", "--here", name, f"--size={size}"]
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [*command, f"--threads={threads}"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"measuring '{name}' failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096, help="rows and columns, a multiple of 256")
    parser.add_argument("--threads", type=int, default=2, help="of torch")
    parser.add_argument("--here", choices=PROGRAMS, help="measure this program in this process, and print JSON")
    arguments = parser.parse_args(argv)
    if arguments.here is not None:
        torch.set_num_threads(arguments.threads)
        print(json.dumps(measure(arguments.here, arguments.size)))
        return 0
    kept = True
    for name in PROGRAMS:
        found = alone(name, arguments.size, arguments.threads)
        print(
            f"{name}, {arguments.size} x {arguments.size}: {found['seconds']:.2f} s (promised: {SECONDS:g}), "
            f"{found['memory']:.2f} x the logical memory (promised: {MEMORY:g}), relative error {found['error']:.1e}"
        )
        kept &= found["seconds"] <= SECONDS and found["memory"] <= MEMORY
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
