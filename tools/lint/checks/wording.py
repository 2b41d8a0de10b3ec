"""The text tells about the product, not about who wrote it and how."""

import re

from tools.lint.workspace import Workspace

NAME = "wording"

# Written so that the pattern does not match itself.
_WORDS = re.compile(
    r"\b([a]gents?|sub-?[a]gents?|[c]laude|[a]nthropic|[o]penai|[c]hat-?gpt|[c]opilot|[c]odex"
    r"|(this|a|my|our|earlier|previous|last|next|other|each) [s]essions?|[s]essions? (that|which) wrote"
    r"|[h]elper session|as an [a]i|[a]i[- ]generated|[l]anguage model (wrote|generated))\b",
    re.IGNORECASE,
)
# Sessions of the program itself, not of its writers.
_FINE = re.compile(r"elaboration session|pytest|tuning session|scope=\"session\"", re.IGNORECASE)


def find(workspace: Workspace) -> list[str]:
    """One finding for each line that speaks of the people or programs behind the text."""
    found = []
    for file in workspace.files:
        for number, line in enumerate(workspace.text(file).splitlines(), 1):
            hit = _WORDS.search(line)
            if hit and not _FINE.search(line):
                found.append(f"{file}:{number}: {hit[0]!r}: say what the product does, not how its text came about")
    return found
