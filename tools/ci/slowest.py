"""Prints the slowest actions of Bazel's JSON profiles.

python3 tools/ci/slowest.py [--count 20] PROFILE.gz...
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Action:
    """One action that Bazel ran: how long (seconds), its mnemonic, what it did, and for which target."""

    seconds: float
    mnemonic: str
    name: str
    target: str


def actions(profile: Path) -> list[Action]:
    """All actions in one profile (JSON, gzipped or plain), in its order.

    Raises:
      ValueError: the file is no Bazel profile.
    """
    data = profile.read_bytes()
    try:
        trace = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        events = trace["traceEvents"]
    except (EOFError, OSError, KeyError, TypeError, ValueError) as e:
        raise ValueError(f"{profile}: not a JSON profile of Bazel ({e})") from e
    found = []
    for event in events:
        if event.get("cat") == "action processing" and "dur" in event:
            about = event.get("args", {})
            seconds = event["dur"] / 1e6  # the profile counts microseconds
            found.append(Action(seconds, about.get("mnemonic", ""), event.get("name", ""), about.get("target", "")))
    return found


def table(found: Iterable[Action], count: int) -> str:
    """The `count` slowest, slowest first, one line each."""
    slowest = sorted(found, reverse=True)[:count]
    lines = []
    for a in slowest:
        target = f" [{a.target}]" if a.target and a.target not in a.name else ""
        lines.append(f"{a.seconds:8.1f} s  {a.mnemonic:<20} {a.name}{target}")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="slowest", description="The slowest actions of Bazel's JSON profiles.")
    parser.add_argument("profiles", nargs="+", type=Path, metavar="PROFILE")
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args(argv)
    try:
        found = [a for p in options.profiles for a in actions(p)]
    except (OSError, ValueError) as e:
        print(f"slowest: {e}", file=sys.stderr)
        return 1
    print(f"The {min(options.count, len(found))} slowest of {len(found)} actions:")
    print(table(found, options.count))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
