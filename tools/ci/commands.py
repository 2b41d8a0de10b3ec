"""Prints the shell commands of a Markdown page, so that CI runs what a reader would type.

    python3 tools/ci/commands.py PAGE.md                      # every line of every ```sh block
    python3 tools/ci/commands.py PAGE.md --only 'COMMAND'...  # these, which the page must hold

A trailing comment is left out. Exit code 1 when the page holds no command, or not the one that is asked for.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

_BLOCK = re.compile(r"^```(?:sh|bash|shell|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """The commands of a page's shell blocks, in order. A prompt ("$ ") is left out, a line that ends in `\\` joined."""
    found = []
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip()
            if command and not command.startswith("#"):
                found.append(re.sub(r"\s+", " ", command))
    return found


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="commands", description="The shell commands of a Markdown page.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--only", action="append", metavar="COMMAND", help="print just these, and fail without them")
    options = parser.parse_args(argv)
    found = commands(options.page.read_text(encoding="utf-8"))
    wanted = options.only or found
    missing = [c for c in wanted if c not in found]
    if missing or not found:
        lacks = f"no shell block holds {missing[0]!r}" if missing else "no shell block"
        print(f"commands: {options.page}: {lacks}", file=sys.stderr)
        return 1
    print("\n".join(wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
