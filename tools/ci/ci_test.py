"""What CI prints at its end is read off Bazel's own records, and what it runs off the pages."""

import gzip
import json
from pathlib import Path

import pytest

from tools.ci import commands, slowest, tally


def _profile(path: Path, *events: dict[str, object]) -> Path:
    path.write_bytes(gzip.compress(json.dumps({"otherData": {}, "traceEvents": events}).encode()))
    return path


def _action(name: str, seconds: float, mnemonic: str = "CppCompile", target: str = "//a:b") -> dict[str, object]:
    args = {"mnemonic": mnemonic, "target": target}
    return {"cat": "action processing", "name": name, "ts": 1, "dur": int(seconds * 1e6), "args": args}


def test_slowest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = _profile(
        tmp_path / "one.gz",
        _action("Compiling a.cc", 2.5),
        {"cat": "general information", "name": "build phase", "dur": 9e9},
        _action("Testing //a:t", 30, "TestRunner", "//a:t"),
    )
    two = tmp_path / "two.json"
    two.write_text(json.dumps({"traceEvents": [_action("Linking x", 4)]}))
    assert slowest.main([str(one), str(two), "--count", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "The 2 slowest of 3 actions:",
        "    30.0 s  TestRunner           Testing //a:t",
        "     4.0 s  CppCompile           Linking x [//a:b]",
    ]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\x1f\x8bbroken", gzip.compress(b"{}")[:-4]])
def test_slowest_refuses_what_is_no_profile(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.gz").write_bytes(content)
    assert slowest.main([str(tmp_path / "p.gz")]) == 1
    assert "not a JSON profile of Bazel" in capsys.readouterr().err


def _events(path: Path, *events: dict[str, object]) -> str:
    path.write_text("\n".join(json.dumps(e) for e in events) + "\n")
    return str(path)


def _summary(label: str, status: str) -> dict[str, object]:
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def _configured(label: str, **more: object) -> dict[str, object]:
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": "x", **more}}


def _completed(label: str, success: bool = True, runs: bool = True) -> dict[str, object]:
    children = [{"testSummary": {"label": label}}] if runs else []
    return {"id": {"targetCompleted": {"label": label}}, "children": children, "completed": {"success": success}}


def test_tally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = _events(
        tmp_path / "good",
        _configured("//:lib"),
        *(_configured(f"//:{name}", testSize="SMALL") for name in ("a", "b", "gpu", "windows")),
        _completed("//:lib", runs=False),
        _completed("//:a"),
        _completed("//:b"),
        _completed("//:gpu", runs=False),
        {"id": {"targetCompleted": {"label": "//:windows"}}, "aborted": {"reason": "SKIPPED"}},
        _summary("//:a", "PASSED"),
        _summary("//:b", "FLAKY"),
    )
    assert tally.main([good]) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed\n"
    bad = _events(
        tmp_path / "bad",
        *(_configured(f"//:{name}", testSize="SMALL") for name in ("broken", "never_run", "slow", "lost")),
        _completed("//:broken", success=False),
        _completed("//:slow"),
        _completed("//:lost"),
        _summary("//:slow", "TIMEOUT"),
    )
    assert tally.main([good, bad]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "//:broken: FAILED_TO_BUILD",
        "//:never_run: NO_STATUS",
        "//:slow: TIMEOUT",
        "//:lost: NO_STATUS",
        "2 passed, 4 failed",
    ]


def test_no_test_at_all_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tally.main([_events(tmp_path / "none", _configured("//:lib"))]) == 1
    assert capsys.readouterr().out == "0 passed, 0 failed\n"


_PAGE = """\
Text with `./bazelw build //x`.
```sh
# a comment
$ ./bazelw run //:a    # what it does
./bazelw test \\
  //...
```
```python
import os
```
"""


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(_PAGE)
    assert commands.main([str(page)]) == 0
    assert capsys.readouterr().out == "./bazelw run //:a\n./bazelw test //...\n"
    assert commands.main([str(page), "--only", "./bazelw test //..."]) == 0
    assert capsys.readouterr().out == "./bazelw test //...\n"
    assert commands.main([str(page), "--only", "./bazelw build //x"]) == 1
    assert "no shell block holds './bazelw build //x'" in capsys.readouterr().err
    page.write_text("no block\n")
    assert commands.main([str(page)]) == 1
