"""The tests of the compiler, on the GPU: each program is compiled on this machine, run, and compared as on the CPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path("tests", "compiler")
_SECONDS = 420  # for each share of the tests


@dataclass(frozen=True)
class Outcome:
    """What became of the tests of one file.

    Attributes:
        file: its name.
        passed, skipped: how many tests did.
        failures: the names of those that failed.
    """

    file: str
    passed: int
    skipped: int
    failures: tuple[str, ...]


def name_compiler(environment: MutableMapping[str, str], target: str) -> None:
    """Names the toolkit of this machine's nvcc in an environment that names none: one on PATH alone is never taken."""
    nvcc = shutil.which("nvcc")
    if target == "cuda" and nvcc:
        environment.setdefault("TILEFOUNDRY_CUDA", str(Path(nvcc).resolve().parents[1]))


def run_compiled(sources: Path, target: str, shares: int) -> list[Outcome]:
    """Runs the test files of ``tests/compiler`` below a folder, dealt out to processes.

    Args:
        sources: the import root that holds them.
        target: what they compile for, "cuda" or "cpu".
        shares: how many processes run at once; most of the time goes to compilers.

    Raises:
        RuntimeError: no test was found, or a process reported nothing.
        subprocess.TimeoutExpired: one did not end.
    """
    files = sorted(str(f.relative_to(sources)) for f in (sources / TESTS).glob("*_test.py"))
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TILEFOUNDRY_TEST_TARGET": target,
    }
    name_compiler(environment, target)
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(shares) as pool:

        def run(share: int) -> Path:
            folder = Path(work, str(share))
            folder.mkdir()
            report = folder / "report.xml"
            mine = {
                "TEST_SHARD_INDEX": str(share),
                "TEST_TOTAL_SHARDS": str(shares),
                "TEST_TMPDIR": str(folder),
                "XML_OUTPUT_FILE": str(report),
            }
            done = subprocess.run(
                [sys.executable, "-m", "tools.python.pytest_main", "-q", "--tb=short", *files],
                cwd=sources,
                env=environment | mine,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            if done.returncode not in (0, 1) or not report.is_file():
                raise RuntimeError(
                    f"the tests ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
                )
            return report

        return outcomes(list(pool.map(run, range(shares))))


def outcomes(reports: list[Path]) -> list[Outcome]:
    """Reads JUnit reports and prints the text of each failure.

    Raises:
        RuntimeError: they hold no test.
    """
    passed: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    failures: dict[str, list[str]] = {}
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            file = case.get("classname", "").rpartition(".")[2]
            failures.setdefault(file, [])
            troubles = [*case.iter("failure"), *case.iter("error")]
            if troubles:
                failures[file].append(case.get("name", ""))
                print(f"---- {file}::{case.get('name')}\n{(troubles[0].text or '')[-3000:]}", flush=True)
            else:
                (passed if case.find("skipped") is None else skipped)[file] += 1
    if not failures:
        raise RuntimeError("no test of the compiler was found")
    return [Outcome(file, passed[file], skipped[file], tuple(names)) for file, names in sorted(failures.items())]
