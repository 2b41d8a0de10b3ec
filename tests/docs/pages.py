"""The programs on a Markdown page, with the output that the page promises."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Program:
    """One ```python block.

    Attributes:
      line: where its first line stands on the page, from 1.
      source: the block.
      output: the ```text block right after it, if there is one.
    """

    line: int
    source: str
    output: str | None


def programs(text: str) -> list[Program]:
    """The programs of a page. Only blank lines may stand between one and its output."""
    fences = list(_FENCE.finditer(text))
    found = []
    for i, fence in enumerate(fences):
        if fence[1] != "python":
            continue
        after = fences[i + 1] if i + 1 < len(fences) else None
        follows = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
        output = after[2] if after is not None and follows else None
        found.append(Program(text[: fence.start(2)].count("\n") + 1, fence[2], output))
    return found


def matches(promised: str, printed: str) -> bool:
    """Whether a program printed what the page promises. `...` stands for what differs from run to run (times)."""
    pattern = ".*?".join(re.escape(part) for part in promised.strip().split("..."))
    printed = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
