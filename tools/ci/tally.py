"""Prints how the tests of Bazel's runs ended, as one line: `N passed, N failed`.

python3 tools/ci/tally.py EVENTS.json...

Each file is what `--build_event_json_file` wrote. Exit code 1 when a test failed, or when none ran.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

# A flaky test passed in a later attempt.
_PASSED = ("PASSED", "FLAKY")


def outcomes(events: Path) -> dict[str, str]:
    """The overall status of each test target in one build event file, by label.

    A test whose build failed is "FAILED_TO_BUILD", one of which no end was told "NO_STATUS". Left out is what was not
    to run: a test that a tag filter left out, or that is not for this platform.
    """
    found: dict[str, str] = {}
    for line in events.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        key = event["id"]
        if "targetConfigured" in key and event.get("configured", {}).get("testSize"):
            found[key["targetConfigured"]["label"]] = "NO_STATUS"
        elif "targetCompleted" in key and key["targetCompleted"]["label"] in found:
            label = key["targetCompleted"]["label"]
            if event.get("aborted", {}).get("reason") == "SKIPPED":
                del found[label]
            elif not event.get("completed", {}).get("success"):
                found[label] = "FAILED_TO_BUILD"
            elif not any("testSummary" in child for child in event.get("children", ())):
                del found[label]
        elif "testSummary" in key:
            found[key["testSummary"]["label"]] = event.get("testSummary", {}).get("overallStatus", "NO_STATUS")
    return found


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    passed, failed = 0, []
    for name in argv:
        for label, status in outcomes(Path(name)).items():
            if status in _PASSED:
                passed += 1
            else:
                failed.append(f"{label}: {status}")
    for line in failed:
        print(line)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
