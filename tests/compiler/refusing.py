"""What the tests of refusals share: a program is refused by name, at the line that its author marked, with a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from tilefoundry import TileFoundryError, normalize_to_module
from tilefoundry.passes import lower

MARK = "# <- here"


def check_refused(program: Any, words: str, remedy: str, file: str) -> None:
    """Checks that a program of `file` cannot be lowered, in these words and with these words in the remedy."""
    with pytest.raises(TileFoundryError) as refusal:
        lower(normalize_to_module(program))
    text = str(refusal.value)
    assert words in text, text
    assert remedy in (refusal.value.remedy or ""), text
    assert refusal.value.span is not None, text
    with open(file, encoding="utf-8") as source:
        line = source.read().splitlines()[refusal.value.span.line - 1]
    assert line.endswith(MARK), f"{text}\nnot at the marked line but at: {line}"
