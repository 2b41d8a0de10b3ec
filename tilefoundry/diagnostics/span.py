"""Where in the author's source something was written, and the picture that a diagnostic shows of it."""

from __future__ import annotations

import linecache
import unicodedata
from dataclasses import dataclass
from itertools import islice
from types import FrameType


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

    @staticmethod
    def of_call(frame: FrameType) -> SourceSpan:
        """The expression that `frame` evaluates now: a call that asks for what is refused."""
        code = frame.f_code
        # one entry for each code unit of two bytes
        line, end_line, offset, end_offset = next(islice(code.co_positions(), frame.f_lasti // 2, None))
        if line is None or end_line is None or offset is None or end_offset is None:  # python -X no_debug_ranges
            line = frame.f_lineno or code.co_firstlineno
            return SourceSpan(code.co_filename, line, 1, line, 1)
        texts = (linecache.getline(code.co_filename, n, frame.f_globals) for n in (line, end_line))
        first, last = (_column(text, byte) for text, byte in zip(texts, (offset, end_offset), strict=True))
        return SourceSpan(code.co_filename, line, first, end_line, last)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def source_line(self) -> str | None:
        """The first line of the span, or None when the file cannot be read."""
        text = linecache.getline(self.file, self.line)
        return text.rstrip("\r\n") if text else None

    def excerpt(self) -> str | None:
        """The source line with a caret line under the span, or None when the file cannot be read.

        Both lines align in a terminal: tabs are kept as tabs, and wide characters get two carets.
        """
        text = self.source_line()
        if text is None:
            return None
        number = str(self.line)
        start = min(self.column - 1, len(text))
        stop = min(self.end_column - 1, len(text)) if self.end_line == self.line else len(text)
        lead = "".join("\t" if ch == "\t" else " " * _cells(ch) for ch in text[:start])
        carets = "".join("\t" if ch == "\t" else "^" * _cells(ch) for ch in text[start:stop])
        shown = carets if carets.strip() else "^"
        return f"  {number} | {text}\n  {' ' * len(number)} | {lead}{shown}"


def _column(text: str, byte_offset: int) -> int:
    """The 1-based column in characters of a place that Python counts in UTF-8 bytes from zero."""
    return (byte_offset if text.isascii() else len(text.encode()[:byte_offset].decode(errors="replace"))) + 1


def _cells(ch: str) -> int:
    """How many cells of a terminal a character takes: 2 for East Asian wide ones, 0 for combining ones."""
    if ch.isascii():
        return 1
    if unicodedata.category(ch) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1
