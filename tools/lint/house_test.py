"""Each house rule finds a planted violation, and is quiet on a clean file."""

from pathlib import Path

import pytest

from tools.lint.checks import house_checks
from tools.lint.workspace import workspace_of

_HOUSE = {c.name: c for c in house_checks()}
_HOME = "/ro" + "ot/"  # in two parts, so that this file passes what it tests
_WHO = "a" + "gent"

# rule, file, its text, what the finding says (None: nothing is found)
_CASES = [
    ("registry hosts", "a/defs.bzl", 'URL = "https://example.com/x.tgz"\n', "a/defs.bzl:1: 'https://'"),
    ("registry hosts", "a/defs.bzl", "# see https://example.com/doc\n", None),
    ("registry hosts", "get.sh", "#!/bin/sh\ncurl https://pypi." + "org/simple\n", "get.sh:2: 'pypi."),
    ("registry hosts", "get.sh", "#!/bin/sh\necho 'see https://example.com/doc'\n", None),
    ("registry hosts", "a.lock", "--index-url file:///x\n", "a.lock:1: '--index-url'"),
    ("registry hosts", ".bazelrc", "common --registry=https:x\n", ".bazelrc:1: '--registry='"),
    ("registry hosts", ".bazelrc", "common --registry=file:///x\n", None),
    ("machine paths", "a.py", f'X = "{_HOME}cache"\n', "a.py:1:"),
    ("machine paths", "a.md", "cd /wo" + "rk/main\n", "a.md:1:"),
    ("machine paths", "a.sh", 'cd "$dest/work/lists" && ls /tmp /usr/bin\n', None),
    ("file length", "a.py", "x = 1\n" * 401, "a.py: 401 lines, the bound is 400"),
    ("file length", "a.py", "x = 1\n" * 400, None),
    ("file length", "a.h", "\n" * 301, "a.h: 301 lines"),
    ("file length", "a.bzl", "\n" * 151, "a.bzl: 151 lines"),
    ("links", "a.md", "[a](gone.md#part)\n", "a.md:1: 'gone.md' is not there"),
    ("links", "docs/a.md", "[a](a.md) [b](#part) [c](https://example.com/x) [d](../docs)\n", None),
    ("links", "a.md", "```sh\n[d](no.md)\n```\n", None),
    ("wording", "a.md", f"Written by an {_WHO}.\n", "a.md:1:"),
    ("wording", "a.md", "Callees are memoised once for each elaboration session.\n", None),
    (
        "starlark docs",
        "a.bzl",
        'r = rule(implementation = f, doc = "x", attrs = {"a": attr.string()})\n',
        "attr.string(...)",
    ),
    ("starlark docs", "a.bzl", "r = repository_rule(implementation = f)\n", "repository_rule(...) without doc"),
    ("starlark docs", "a.bzl", 'r = rule(implementation = f, doc = "x", attrs = {"a": attr.int(doc = "y")})\n', None),
    ("starlark docs", "a.bzl", 'A = {"_a": attr.label(), "b": attr.label(doc = "y")}\n', None),
    ("starlark docs", "a.bzl", "def f(:\n", "does not parse"),
]


@pytest.mark.parametrize(("rule", "file", "text", "says"), _CASES)
def test_rule(rule: str, file: str, text: str, says: str | None, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    found = list(_HOUSE[rule].run(workspace_of(tmp_path, [file]), False))
    if says is None:
        assert found == []
    else:
        assert len(found) == 1
        assert says in found[0]


def test_every_rule_has_a_planted_violation() -> None:
    assert {rule for rule, _, _, says in _CASES if says} | {"build sources"} == set(_HOUSE)


@pytest.mark.parametrize(
    ("build", "found"),
    [
        ('py_library(name = "l", srcs = ["a.py", "sub/b.py"])', []),
        ('py_library(name = "l", srcs = glob(["**/*.py"]))', []),
        ('[py_library(name = n, srcs = ["%s.py" % n]) for n in ["a", "sub/b"]]', []),
        ('py_library(name = "l", srcs = ["a.py"])', ["tools/x/sub/b.py"]),
        ('py_library(name = "l", srcs = glob(["*.py"]))', ["tools/x/sub/b.py"]),
        ('[py_library(name = n, srcs = [n + ".py"]) for n in ["a"]]', ["tools/x/sub/b.py"]),
        ('[f(n, "{}".format(n)) for n in []]', ["tools/x/a.py", "tools/x/sub/b.py"]),
    ],
)
def test_sources_without_a_target(build: str, found: list[str], tmp_path: Path) -> None:
    files = {"tools/x/BUILD.bazel": build, "tools/x/a.py": "", "tools/x/sub/b.py": ""}
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    findings = _HOUSE["build sources"].run(workspace_of(tmp_path, files), False)
    assert [f.split(":")[0] for f in findings] == found


def test_a_source_outside_every_package(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/a.py").write_text("")
    (finding,) = _HOUSE["build sources"].run(workspace_of(tmp_path, ["tools/a.py"]), False)
    assert "in no Bazel package" in finding
