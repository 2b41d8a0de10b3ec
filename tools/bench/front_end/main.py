"""How fast the front end is: importing tilefoundry, parsing a decoder of 64 layers, and long programs.

    ./bazelw run //tools/bench/front_end
    python3 -m tools.bench.front_end.main

Each import, and each parse, runs in a process of its own. Wall-clock times are what we promise; the processor's time is
shown beside them, since it hardly depends on what else the machine does. The exit code is 1 when a median is above what
we promise.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.bench.front_end import long
from tools.bench.front_end.decoder import decoder_source

IMPORT_MS, PARSE_MS = 150.0, 2000.0  # what we promise
VALUE_US = 120.0  # of a long program, for each value that its functions hold

IMPORT = """
import sys, time
start, used = time.perf_counter(), time.process_time()
import tilefoundry, tilefoundry.dsl, tilefoundry.target
tilefoundry.func, tilefoundry.module
print((time.perf_counter() - start) * 1e3, (time.process_time() - used) * 1e3)
assert not {"torch", "numpy", "tvm_ffi"} & set(sys.modules), "the import loads more than it should"
"""

PARSE = """
import sys, time
import tilefoundry, tilefoundry.dsl, tilefoundry.target, tilefoundry.python
start, used = time.perf_counter(), time.process_time()
import decoder
print((time.perf_counter() - start) * 1e3, (time.process_time() - used) * 1e3)
assert len(decoder.Decoder.modules) == int(sys.argv[1])
assert not {"torch", "numpy", "tvm_ffi"} & set(sys.modules), "parsing loads more than it should"
"""

LONG = """
import sys, time
import tilefoundry, tilefoundry.dsl, tilefoundry.target, tilefoundry.python
start, used = time.perf_counter(), time.process_time()
import program
print((time.perf_counter() - start) * 1e3, (time.process_time() - used) * 1e3)
"""

# the source of each long program, and how many values it holds
LONG_PROGRAMS: dict[str, tuple[str, int]] = {
    "5000 statements": (long.statements(5000), 10000),
    "a chain of 300 calls": (long.chain(300), 300 * 301 // 2),
    "16 doubling calls": (long.doubling(16), 1 << 17),
}


@dataclass(frozen=True)
class Times:
    """Milliseconds over several processes: on the wall, and of the processor."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]


def environment(*folders: str) -> dict[str, str]:
    """The variables of a process that finds what this one finds, and what lies in these folders."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, *(p for p in sys.path if p)])}


def timed(program: str, runs: int, folder: Path, *args: str) -> Times:
    """What a program prints in several processes; a run before these fills Python's caches."""
    env = environment(str(folder)) | {"PYTHONPYCACHEPREFIX": str(folder / "pycache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    found: list[list[float]] = []
    for _ in range(runs + 1):
        command = [sys.executable, "-c", program, *args]
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found.append([float(word) for word in done.stdout.split()])
    wall, processor = zip(*found[1:], strict=True)
    return Times(wall, processor)


def report(what: str, times: Times, promised: float) -> bool:
    """Prints one line; says whether the median keeps the promise."""
    median = statistics.median(times.wall)
    print(
        f"{what}: median {median:.1f} ms, fastest {min(times.wall):.1f} ms of {len(times.wall)}; processor: median "
        f"{statistics.median(times.processor):.1f} ms; promised: {promised:.0f} ms"
    )
    return median <= promised


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="front_end", description="Times the import and the parser.")
    parser.add_argument("--runs", type=int, default=15, help="processes for each figure (default %(default)s)")
    parser.add_argument("--layers", type=int, default=64, help="layers of the decoder (default %(default)s)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "decoder.py").write_text(decoder_source(options.layers), encoding="utf-8")
        kept = [
            report("import tilefoundry", timed(IMPORT, options.runs, folder), IMPORT_MS),
            report(
                f"parse a decoder of {options.layers} layers",
                timed(PARSE, max(options.runs // 3, 1), folder, str(options.layers)),
                PARSE_MS,
            ),
        ]
        for what, (source, values) in LONG_PROGRAMS.items():
            (folder / "program.py").write_text(source, encoding="utf-8")
            times = timed(LONG, max(options.runs // 5, 1), folder)
            kept.append(report(f"parse {what}, {values} values", times, VALUE_US * values / 1e3))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
