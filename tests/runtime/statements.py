"""Which statements of the runtime's behaviour have a test that bears their number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

STATEMENTS = frozenset(range(1, 82))

_NAME = re.compile(r"test(?:_statements?)?((?:_\d+)(?:_and_\d+)*)(?:_|$)")


def covered(files: Iterable[Path]) -> dict[int, list[str]]:
    """{statement: tests}, of the test functions in these files: `test_statement_12_...`, `test_12_...`."""
    found: dict[int, list[str]] = {}
    for file in sorted(files):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
            if isinstance(node, ast.FunctionDef) and (match := _NAME.match(node.name)):
                for number in re.findall(r"\d+", match[1]):
                    found.setdefault(int(number), []).append(f"{file.name}::{node.name}")
    return found


def missing(found: Iterable[int]) -> list[int]:
    """The statements without a test."""
    return sorted(STATEMENTS - set(found))
