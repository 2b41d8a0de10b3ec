"""The bench of the edge measures what it says, and a loaded machine stays near what we promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilefoundry.target import CpuTarget
from tools.bench.edge import main as bench
from tools.bench.edge.calls import Calls
from tools.bench.edge.compiling import compile_attention, shares

SLACK = 3  # other tests run beside this one


def test_a_call_costs_little_over_a_bare_one(tmp_path: Path) -> None:
    calls = Calls.build(CpuTarget(), tmp_path)
    ways = (calls.bare, calls.entry, calls.module)
    bare, entry, ours = (min(calls.seconds(way) for _ in range(200)) for way in ways)
    assert bare > 0.1e-6, "TVM FFI alone takes longer than that"
    assert entry - bare < SLACK * bench.CALL.limit
    assert ours - bare < SLACK * bench.CALL.limit


def test_what_the_process_and_the_disk_hold_is_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path))
    assert bench.held("cpu")
    bench.on_disk("cpu")  # raises where the disk had nothing
    assert "jit of a program that the disk holds" in capsys.readouterr().out


def test_a_compile_is_told_step_by_step() -> None:
    found = compile_attention(CpuTarget())
    names = [what for what, _ in found.steps]
    assert [name.split()[0] for name in names] == ["host", "kernel", "library", "all"]
    assert all(0 < seconds < found.seconds for _, seconds in found.steps)
    assert found.processor > 0.5, "the time of the compilers is told"
    assert shares(found).count(" %") == len(names)


def test_a_broken_promise_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.verdict(bench.CALL, 0.9e-6) and not bench.verdict(bench.CALL, 1.1e-6)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a call, over the bare one: 0.90 us (promised 1, predicted 0.7)")
    assert [line.endswith("TOO LONG") for line in lines] == [False, True]
