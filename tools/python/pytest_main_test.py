"""The runner keeps to Bazel's test protocol, and a test that tests nothing fails."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

_TESTS = """
import pytest

@pytest.mark.parametrize("i", range(7), ids="case{}".format)
def test_it(i):
    print("ran", i)
"""


def _run(tmp_path: Path, text: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "sample_test.py").write_text(text)
    command = [sys.executable, "tools/python/pytest_main.py", "-s", str(tmp_path / "sample_test.py"), *arguments]
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def _ran(got: subprocess.CompletedProcess[str]) -> list[int]:
    return [int(line.split("ran ")[1].split()[0]) for line in got.stdout.splitlines() if "ran " in line]


def test_all_tests_run(tmp_path: Path) -> None:
    got = _run(tmp_path, _TESTS)
    assert got.returncode == 0, got.stdout
    assert _ran(got) == list(range(7))


def test_failure_is_a_failure(tmp_path: Path) -> None:
    assert _run(tmp_path, "def test_it():\n    assert 1 == 2\n").returncode == 1


@pytest.mark.parametrize("text", ["", "def helper():\n    pass\n"])
def test_no_test_is_a_failure(tmp_path: Path, text: str) -> None:
    got = _run(tmp_path, text)
    assert got.returncode == 5, got.stdout


def test_filter_that_leaves_no_test_is_a_failure(tmp_path: Path) -> None:
    assert _run(tmp_path, _TESTS, TESTBRIDGE_TEST_ONLY="nothing_like_it").returncode == 5


def test_filter_is_an_expression(tmp_path: Path) -> None:
    assert _ran(_run(tmp_path, _TESTS, TESTBRIDGE_TEST_ONLY="case3 or case5")) == [3, 5]


@pytest.mark.parametrize("total", [1, 2, 3, 7, 10])
def test_shards_run_each_test_once(tmp_path: Path, total: int) -> None:
    ran: list[int] = []
    for index in range(total):
        status = tmp_path / f"status{index}"
        shard = {"TEST_TOTAL_SHARDS": str(total), "TEST_SHARD_INDEX": str(index), "TEST_SHARD_STATUS_FILE": str(status)}
        got = _run(tmp_path, _TESTS, **shard)
        assert got.returncode == 0, got.stdout
        assert status.exists()  # else Bazel takes the test for one that cannot shard
        ran += _ran(got)
    assert sorted(ran) == list(range(7))


def test_sharded_test_without_tests_fails(tmp_path: Path) -> None:
    assert _run(tmp_path, "", TEST_TOTAL_SHARDS="2", TEST_SHARD_INDEX="0").returncode == 5


def test_report_is_junit_xml(tmp_path: Path) -> None:
    report = tmp_path / "test.xml"
    _run(tmp_path, _TESTS, XML_OUTPUT_FILE=str(report))
    [suite] = ElementTree.parse(report).getroot().iter("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("7", "0")
