"""The GPU test programs of a bundle: their runs, and their runs under compute-sanitizer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")
_SECONDS = 300
_AT_ONCE = 4  # programs under a sanitizer wait for the host most of the time
_SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One run of a program.

    Attributes:
        program: its file's name.
        tool: the sanitizer that it ran under, "" for none.
        seconds: how long it took.
        fault: what went wrong; empty when nothing did.
        output: what it wrote.
    """

    program: str
    tool: str
    seconds: float
    fault: str
    output: str


def run_programs(folder: Path) -> Iterator[Run]:
    """Runs every program of a folder, one after the other."""
    for program in _programs(folder):
        yield _run(program, "", [str(program)])


def sanitize_programs(folder: Path, racecheck: Path, sanitizer: Path) -> Iterator[Run]:
    """Runs every program of a folder under each tool of compute-sanitizer, on the sizes that are meant for it.

    A run fails when the tool reports anything or says nothing, or when the program fails.

    Args:
        folder: holds the programs.
        racecheck: holds `<program>_racecheck` for those that racecheck cannot follow as they are: the same, compiled
            with TILEFOUNDRY_RACECHECK.
        sanitizer: compute-sanitizer.
    """

    def run(pair: tuple[Path, str]) -> Run:
        program, tool = pair
        instead = racecheck / f"{program.name}_racecheck"
        if tool == "racecheck" and instead.exists():
            program = instead
        return _run(program, tool, [str(sanitizer), "--tool", tool, str(program), "--small"])

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(run, [(program, tool) for tool in SANITIZERS for program in _programs(folder)])


def find_sanitizer() -> Path:
    """compute-sanitizer of the toolkit that ``TILEFOUNDRY_CUDA`` names, else the one on PATH.

    Raises:
        FileNotFoundError: there is none.
    """
    toolkit = os.environ.get("TILEFOUNDRY_CUDA")
    places = [str(Path(toolkit, "bin"))] if toolkit else []
    places.append(os.environ.get("PATH", os.defpath))
    found = shutil.which("compute-sanitizer", path=os.pathsep.join(places))
    if found is None:
        raise FileNotFoundError(
            "no compute-sanitizer in the toolkit that TILEFOUNDRY_CUDA names or on PATH; it is part of CUDA's toolkit"
        )
    return Path(found)


def _programs(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    if not found:
        raise FileNotFoundError(f"{folder} holds no program")
    return found


def _run(program: Path, tool: str, command: list[str]) -> Run:
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            code = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, timeout=_SECONDS, check=False
            ).returncode
            fault = f"exit code {code}" if code else ""
        except subprocess.TimeoutExpired:
            fault = f"longer than {_SECONDS} s"
        output.seek(0)
        text = output.read()
    summaries = _SUMMARY.findall(text)
    if tool and not fault:
        if not summaries:
            fault = "the tool wrote no summary"
        elif any(int(count) for count in summaries):
            fault = f"{summaries[0]} findings"
    return Run(program.name, tool, time.monotonic() - start, fault, text)
