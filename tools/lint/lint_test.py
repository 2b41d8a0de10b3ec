"""Each tool really fails on a planted violation, and passes the clean file beside it."""

import subprocess
from pathlib import Path

import pytest

from tools.lint import main
from tools.lint.buildifier import buildifier_path
from tools.lint.external import external_checks
from tools.lint.workspace import open_workspace, workspace_of

_TOOLS = {c.name: c for c in external_checks(buildifier_path())}

# tool, file, what it must refuse, the same made clean
_CASES = [
    ("ruff format", "a.py", "x = {'a':1}\n", 'x = {"a": 1}\n'),
    ("ruff check", "a.py", "import os\n", "x = 1\n"),
    ("clang-format", "a.cc", "int  f( ){return 1;}\n", "int f() { return 1; }\n"),
    ("buildifier", "BUILD.bazel", "filegroup(name='a')\n", 'filegroup(name = "a")\n'),
    ("buildifier", "a.bzl", "A = 1\n", '"""Doc."""\n\nA = 1\n'),
    ("shellcheck", "a.sh", "#!/bin/sh\nrm $1\n", '#!/bin/sh\nrm "$1"\n'),
    ("shellcheck", "run", "#!/usr/bin/env bash\ncd $1\n", '#!/usr/bin/env bash\ncd "$1" || exit\n'),
    ("mypy", "a.py", 'x: int = "a"\n', "x: int = 1\n"),
    ("mypy", "a.py", "import numpy as np\n\nx: int = np.zeros(3)\n", "import numpy as np\n\nx = np.zeros(3)\n"),
]


@pytest.mark.parametrize(("tool", "file", "bad", "clean"), _CASES)
def test_tool(tool: str, file: str, bad: str, clean: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.mypy]\nstrict = true\n")
    check = _TOOLS[tool]
    (tmp_path / file).write_text(bad)
    found = "\n".join(check.run(workspace_of(tmp_path, [file]), False))
    assert file in found
    assert (tmp_path / file).read_text() == bad, "a report must not change the file"
    (tmp_path / file).write_text(clean)
    assert check.run(workspace_of(tmp_path, [file]), False) == []


def test_every_tool_has_a_planted_violation() -> None:
    assert {tool for tool, *_ in _CASES} == set(_TOOLS)


@pytest.mark.parametrize(("tool", "file", "bad"), [c[:3] for c in _CASES[:4]])
def test_fix_repairs(tool: str, file: str, bad: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(bad)
    workspace = workspace_of(tmp_path, [file])
    assert _TOOLS[tool].run(workspace, True) == []
    assert (tmp_path / file).read_text() != bad
    assert _TOOLS[tool].run(workspace, False) == []


def test_fix_reports_what_it_cannot_repair(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = undefined\n")
    assert "F821" in "\n".join(_TOOLS["ruff check"].run(workspace_of(tmp_path, ["a.py"]), True))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    for name in ("tracked.py", "untracked.py", "ignored.py"):
        (tmp_path / name).write_text('"""Nothing."""\n')
    subprocess.run(["git", "add", ".gitignore", "tracked.py"], cwd=tmp_path, check=True)
    return tmp_path


def test_the_workspace_is_what_git_would_track(checkout: Path) -> None:
    assert open_workspace(checkout).of_kind("python") == ["tracked.py", "untracked.py"]
    (checkout / "tracked.py").unlink()
    assert open_workspace(checkout).of_kind("python") == ["untracked.py"]


def test_the_command(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--root", str(checkout)]
    assert main.main(options) == 0
    assert "checks passed, 3 files" in capsys.readouterr().out
    (checkout / "untracked.py").write_text("x=1\n")
    assert main.main(options) == 1
    assert "untracked.py" in capsys.readouterr().out
    assert main.main([*options, "--only", "clang-format"]) == 0
    assert main.main([*options, "--fix"]) == 0
    assert (checkout / "untracked.py").read_text() == "x = 1\n"
    with pytest.raises(SystemExit) as e:
        main.main([*options, "--only", "nothing"])
    assert e.value.code == 2
