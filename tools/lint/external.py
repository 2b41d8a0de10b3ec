"""The formatters, linters and the type checker, each as a check."""

import os
import subprocess
import sys
from collections.abc import Sequence

from tools.lint.check import Check
from tools.lint.programs import program, third_party_path
from tools.lint.workspace import Workspace


def run_tool(workspace: Workspace, command: Sequence[str], files: Sequence[str], **env: str) -> list[str]:
    """Runs one tool over the files, at the root; what it says is the finding when it exits with an error."""
    if not files:
        return []
    done = subprocess.run(
        [*command, *files],
        cwd=workspace.root,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        return []
    return done.stdout.splitlines() or [f"{command[0]}: exit code {done.returncode} and no output"]


def _formatter(name: str, kind: str, executable: str, check: Sequence[str], fix: Sequence[str]) -> Check:
    """A tool that repairs in one mode and reports in another; what a repair leaves over is reported."""

    def run(workspace: Workspace, fixing: bool) -> list[str]:
        files = workspace.of_kind(kind)
        failed = run_tool(workspace, [executable, *fix], files) if fixing else []
        return run_tool(workspace, [executable, *check], files) or failed

    return Check(name, run, fixes=True)


def _mypy(workspace: Workspace, fixing: bool) -> list[str]:
    """Types of all but the unit tests, which pass wrong types on purpose and are checked by being run."""
    files = [f for f in workspace.of_kind("python") if not f.endswith(("_test.py", "conftest.py"))]
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--"]
    return run_tool(workspace, command, files, PYTHONPATH=third_party_path())


def external_checks(buildifier: str) -> list[Check]:
    """All of them; `buildifier` is the path of its executable.

    Raises:
      FileNotFoundError: one of the tools is missing.
    """
    ruff, clang_format, shellcheck = program("ruff"), program("clang-format"), program("shellcheck")

    def run_shellcheck(workspace: Workspace, fixing: bool) -> list[str]:
        # A script without `#!` is read where another one sources it, with that one's variables.
        scripts = [f for f in workspace.of_kind("shell") if workspace.text(f).startswith("#!")]
        options = [
            "--external-sources",
            "--source-path=SCRIPTDIR",
            "--severity=info",
            "--exclude=SC2016",
            "--format=gcc",
        ]
        return run_tool(workspace, [shellcheck, *options], scripts)

    return [
        _formatter("ruff format", "python", ruff, ["format", "--quiet", "--diff"], ["format", "--quiet"]),
        _formatter("ruff check", "python", ruff, ["check", "--quiet"], ["check", "--quiet", "--fix"]),
        _formatter(
            "clang-format", "cpp", clang_format, ["--style=file", "--dry-run", "-Werror"], ["--style=file", "-i"]
        ),
        _formatter("buildifier", "starlark", buildifier, ["-mode=check", "-lint=warn"], ["-mode=fix", "-lint=fix"]),
        Check("shellcheck", run_shellcheck),
        Check("mypy", _mypy),
    ]
