"""`./bazelw run //tools:lint`: every formatter, linter, type check and house rule, by one command.

Runs over what git tracks in the checkout, or would track. Exit code 0 when all is well, 1 when there are findings, 2
for a bad option.

  ./bazelw run //tools:lint                    # report
  ./bazelw run //tools:lint -- --fix           # repair what can be repaired, report the rest
  ./bazelw run //tools:lint -- --only mypy     # one check
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.lint.buildifier import buildifier_path
from tools.lint.check import Check
from tools.lint.checks import house_checks
from tools.lint.external import external_checks
from tools.lint.workspace import Workspace, open_workspace


def run_checks(checks: Sequence[Check], workspace: Workspace, fix: bool) -> int:
    """Runs the checks in turn, prints what they find, and returns how many found something."""
    failed = []
    for check in checks:
        start = time.monotonic()
        findings = check.run(workspace, fix)
        verdict = f"{len(findings)} lines of findings" if findings else "ok"
        print(f"{check.name}: {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
        for line in findings:
            print(f"  {line}")
        if findings:
            failed.append(check)
    print(f"lint: {len(checks) - len(failed)} of {len(checks)} checks passed, {len(workspace.files)} files")
    if any(c.fixes for c in failed) and not fix:
        print("lint: `./bazelw run //tools:lint -- --fix` repairs formatting")
    return len(failed)


def main(argv: Sequence[str]) -> int:
    """Parses the options and runs the checks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="lint", description="Formatters, linters, types and house rules.")
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")
    parser.add_argument("--only", action="append", metavar="CHECK", help="run only this check (repeatable)")
    parser.add_argument("--root", type=Path, help="the checkout (default: where `bazel run` was called)")
    options = parser.parse_args(argv)

    checks = external_checks(buildifier_path()) + house_checks()
    if options.only:
        unknown = sorted(set(options.only) - {c.name for c in checks})
        if unknown:
            parser.error(f"no check named {unknown[0]!r}; there are: {', '.join(c.name for c in checks)}")
        checks = [c for c in checks if c.name in options.only]
    root = options.root or Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    return 1 if run_checks(checks, open_workspace(root.resolve()), options.fix) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
