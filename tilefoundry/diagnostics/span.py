"""Where in the author's source something was written, and the picture that a diagnostic shows of it."""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A range of source text. Lines and columns are 1-based; `end_column` is one past the last column.

    Raises:
        ValueError: a line or column is below 1, or the end lies before the start.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __post_init__(self) -> None:
        if self.line < 1 or self.column < 1:
            raise ValueError(f"a span starts at line and column 1 or later, got {self.line}:{self.column}")
        if (self.end_line, self.end_column) < (self.line, self.column):
            raise ValueError(f"span ends at {self.end_line}:{self.end_column}, before its start {self}")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def source_line(self) -> str | None:
        """The first line of the span, or None when the file cannot be read."""
        text = linecache.getline(self.file, self.line)
        return text.rstrip("\n") if text else None

    def excerpt(self) -> str | None:
        """The source line with a caret line under the span, or None when the file cannot be read.

        Tabs before the caret are kept as tabs, so that the two lines stay aligned at any tab width.
        """
        text = self.source_line()
        if text is None:
            return None
        number = str(self.line)
        start = min(self.column - 1, len(text))
        stop = min(self.end_column - 1, len(text)) if self.end_line == self.line else len(text)
        lead = "".join("\t" if ch == "\t" else " " for ch in text[:start])
        carets = "^" * max(1, stop - start)
        return f"  {number} | {text}\n  {' ' * len(number)} | {lead}{carets}"
