"""What the lint command runs: named checks that turn a workspace into findings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.lint.workspace import Workspace


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
      name: what the report and `--only` call it.
      run: gives the findings, one or more lines of text each and none when all is well. With fix=True it first
        repairs what it can, and reports what is left.
      fixes: whether fix=True makes a difference.
    """

    name: str
    run: Callable[[Workspace, bool], Sequence[str]]
    fixes: bool = False


def house_check(name: str, find: Callable[[Workspace], Sequence[str]]) -> Check:
    """A check of our own, which reports and repairs nothing."""
    return Check(name, lambda workspace, fix: find(workspace))
