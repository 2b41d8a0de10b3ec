"""What came of tuning: one row for each configuration."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from tilefoundry.driver.options import CompilerOptions
from tilefoundry.runtime.measure.timing import Timing

Status = Literal["measured", "same code", "disagrees", "refused"]


@dataclass(frozen=True)
class TuneRow:
    """One configuration.

    Attributes:
        options: the configuration.
        status: "measured"; "same code" as an earlier one, which was measured in its place; "disagrees" with the results
            of the first; "refused" by the compiler or by the device.
        timing: seconds of a call, of what was measured.
        note: which row has the same code, what disagrees, why it was refused.
    """

    options: CompilerOptions
    status: Status
    timing: Timing | None = None
    note: str = ""


@dataclass(frozen=True)
class TuneReport:
    """What was measured. ``str()`` is a table.

    Attributes:
        entry: what was tuned.
        target: text of the target that it was compiled for.
        rows: the configurations, in the order in which they were given.
        best: the fastest in its best round; of those that are within one percent of it, the first.
    """

    entry: str
    target: str
    rows: tuple[TuneRow, ...]
    best: CompilerOptions

    def __str__(self) -> str:
        head = ("options", "status", "median", "best", "note")
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        chosen = next(n for n, row in enumerate(self.rows, 1) if row.options == self.best)
        marked = (f"{'*' if n == chosen else ' '} {line}".rstrip() for n, line in enumerate(lines))
        return "\n".join([f"{self.entry} on {self.target}", *marked])


def differences(options: CompilerOptions) -> str:
    """The fields that are not at their default."""
    found = (f"{f.name}={value}" for f in fields(options) if (value := getattr(options, f.name)) != f.default)
    return " ".join(found) or "default"


def _cells(row: TuneRow) -> tuple[str, ...]:
    times = ("", "") if row.timing is None else (f"{row.timing.median * 1e6:.2f} us", f"{row.timing.best * 1e6:.2f} us")
    note = row.note.splitlines()[0] if row.note else ""
    return (differences(row.options), row.status, *times, note)
