"""Runs a device bundle: `run.sh [PART]`. The tables come last; the exit code is 1 when anything failed.

correctness   every library against f64
keys          the keys of the libraries, computed by this machine's Python
bench         their times beside torch's cuDNN and flash attention
ops_bench     single ops of the runtime beside copy bandwidth and the rate of cuBLAS
programs      whole programs, compiled on this machine, beside torch
tests         the GPU test programs
tiers         the same for lower architectures: their source paths in this GPU's machine code
sanitize      the GPU test programs under memcheck, racecheck, synccheck and initcheck of compute-sanitizer
compiled      the compiler's tests: programs compiled on this machine and compared with the evaluator
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from tools.bench.device_ops.bench import DeviceOps, Rate
from tools.bench.device_ops.bench import measure as measure_ops
from tools.bench.programs.bench import Comparison
from tools.bench.programs.bench import measure as measure_programs
from tools.device_bundle.bench import Timing, measure, sizes_for
from tools.device_bundle.compiled import Outcome, name_compiler, run_compiled
from tools.device_bundle.correctness import LENGTHS, Verdict, judge
from tools.device_bundle.device_programs import Run, find_sanitizer, run_programs, sanitize_programs
from tools.device_bundle.kernels import AttentionLibrary, attention_libraries
from tools.device_bundle.keys import Keys, judge_keys
from tools.device_bundle.rows import judge_rows

PARTS = ("correctness", "keys", "bench", "ops_bench", "programs", "tests", "tiers", "sanitize", "compiled")
_DRY_LENGTHS = (1, 65)


def main(argv: Sequence[str]) -> int:
    """Parses the options, runs the parts that were asked for, and prints their tables."""
    parser = argparse.ArgumentParser(prog="run.sh", description="Checks and times the kernels of this bundle.")
    parser.add_argument("part", nargs="?", default="all", choices=(*PARTS, "all"))
    parser.add_argument("--bundle", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu: a dry run over CPU libraries")
    options = parser.parse_args(argv)
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch sees no GPU; --device cpu runs a bundle of CPU libraries")
    if options.device == "cpu" and options.part == "ops_bench":
        parser.error("ops_bench times kernels of a GPU; it has no dry run")
    device = torch.device(options.device)
    _print_machine(device)

    wanted = PARTS if options.part == "all" else (options.part,)
    tables, passed = [], True
    for part in ("tests", "tiers"):
        if part in wanted:
            runs = _told(run_programs(options.bundle / part))
            tables.append(_table((f"{part}: program", "seconds", "result"), map(_run_row, runs)))
            passed &= not any(run.fault for run in runs)
    if "sanitize" in wanted:
        bundle: Path = options.bundle
        runs = _told(sanitize_programs(bundle / "tests", bundle / "racecheck", find_sanitizer()))
        tables.append(_table(("sanitize: program", "tool", "seconds", "result"), map(_sanitized_row, runs)))
        passed &= not any(run.fault for run in runs)
    if "compiled" in wanted:
        ran = run_compiled(options.bundle / "src", device.type, os.cpu_count() or 1)
        tables.append(_table(("compiled programs", "passed", "skipped", "result"), map(_outcome_row, ran)))
        passed &= not any(outcome.failures for outcome in ran)
    if "keys" in wanted:
        keys = judge_keys(options.bundle / "kernels")
        tables.append(_table(("library", "keys", "result"), map(_keys_row, keys)))
        passed &= not any(found.differing for found in keys)
    if "correctness" in wanted or "bench" in wanted:
        libraries = attention_libraries(options.bundle / "kernels")
        if "correctness" in wanted:
            verdicts = [_judge(library, device) for library in libraries]
            for rows in sorted((options.bundle / "kernels").glob("rows_*.so")):
                verdicts += judge_rows(rows, device)
            tables.append(_table(("library", "cases", "worst rel_l2", "bound", "result"), map(_verdict_row, verdicts)))
            passed &= not any(verdict.failures for verdict in verdicts)
        if "bench" in wanted:
            timings = [t for library in libraries for t in measure(library, device, sizes_for(library, device))]
            head = ("library", "B×H×S×D", "ours µs", "TFLOP/s", "cuDNN µs", "cuDNN/ours", "flash µs", "flash/ours")
            tables.append(_table(head, map(_timing_row, timings)))
    if "ops_bench" in wanted and device.type == "cuda":
        rates = measure_ops(DeviceOps(options.bundle / "kernels/device_ops.so"), device)
        tables.append(_table(("op", "reached", "ceiling", "", "part", "result"), map(_rate_row, rates)))
        passed &= all(rate.passed for rate in rates)
    if "programs" in wanted:
        name_compiler(os.environ, device.type)
        compared = measure_programs(device)
        columns = ("program", "size", "ours µs", "torch µs", "torch/ours", "TFLOP/s", "result")
        tables.append(_table(columns, map(_comparison_row, compared)))
        passed &= not any(comparison.fault for comparison in compared)
    print("\n" + "\n\n".join(tables) + f"\n\n{'PASS' if passed else 'FAIL'}")
    return 0 if passed else 1


def _print_machine(device: torch.device) -> None:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, CUDA {torch.version.cuda}, Python {sys.version.split()[0]}", flush=True)


def _judge(library: AttentionLibrary, device: torch.device) -> Verdict:
    verdict = judge(library, device, LENGTHS if device.type == "cuda" else _DRY_LENGTHS)
    for failure in verdict.failures:
        print(f"{library.name}: {failure}", flush=True)
    return verdict


def _told(runs: Iterable[Run]) -> list[Run]:
    """All runs; the output of those that failed is printed as they end."""
    done = []
    for run in runs:
        if run.fault:
            print(f"---- {run.program} {run.tool}: {run.fault}\n{run.output[-4000:]}", flush=True)
        done.append(run)
    return done


def _run_row(run: Run) -> tuple[str, ...]:
    return run.program, f"{run.seconds:.1f}", f"FAIL ({run.fault})" if run.fault else "PASS"


def _sanitized_row(run: Run) -> tuple[str, ...]:
    return run.program, run.tool, *_run_row(run)[1:]


def _verdict_row(verdict: Verdict) -> tuple[str, ...]:
    result = f"FAIL ({len(verdict.failures)} cases)" if verdict.failures else "PASS"
    return verdict.library, str(verdict.cases), f"{verdict.worst:.2e}", f"{verdict.bound:.0e}", result


def _outcome_row(outcome: Outcome) -> tuple[str, ...]:
    result = f"FAIL ({len(outcome.failures)})" if outcome.failures else "PASS"
    return outcome.file, str(outcome.passed), str(outcome.skipped), result


def _keys_row(keys: Keys) -> tuple[str, ...]:
    return keys.library, str(keys.count), f"FAIL ({'; '.join(keys.differing)})" if keys.differing else "PASS"


def _timing_row(timing: Timing) -> tuple[str, ...]:
    def peer(name: str) -> tuple[str, str]:
        seconds = timing.peers[name]
        return ("-", "-") if seconds is None else (f"{seconds * 1e6:.1f}", f"{seconds / timing.ours:.3f}")

    size = "×".join(map(str, timing.size))
    rate = f"{timing.flops / timing.ours / 1e12:.2f}"
    return timing.library, size, f"{timing.ours * 1e6:.1f}", rate, *peer("cuDNN"), *peer("flash")


def _comparison_row(compared: Comparison) -> tuple[str, ...]:
    size = "×".join(map(str, compared.size))
    times = f"{compared.ours * 1e6:.1f}", f"{compared.torch * 1e6:.1f}", f"{compared.torch / compared.ours:.3f}"
    rate = f"{compared.work / compared.ours / 1e12:.1f}" if compared.work else "-"
    return compared.program, size, *times, rate, f"FAIL {compared.fault}" if compared.fault else "PASS"


def _rate_row(rate: Rate) -> tuple[str, ...]:
    result = "PASS" if rate.passed else f"FAIL {rate.fault}".rstrip()
    return rate.op, f"{rate.reached:.2f}", f"{rate.ceiling:.2f}", rate.unit, f"{rate.ratio:.3f}", result


def _table(head: tuple[str, ...], rows: object) -> str:
    lines = [head, *rows]  # type: ignore[misc]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
