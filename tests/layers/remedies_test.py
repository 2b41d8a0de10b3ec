"""Every refusal of the language says what to do: an error of the family is given a remedy where it is made."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tilefoundry
from tilefoundry import diagnostics
from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.evaluator.checks import require
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.python.parser import Parser

ROOT = Path(tilefoundry.__file__).parents[1]
LAYERS = ("dsl", "evaluator", "ir", "passes", "python", "target")
PROTOCOL = "LookupNameError"  # of a private name, for which Python's own protocols ask: nobody reads it
KINDS = {n for n, v in vars(diagnostics).items() if isinstance(v, type) and issubclass(v, TileFoundryError)}
LEAST = 300  # errors that the language makes; fewer mean that this test no longer finds them


def made(text: str) -> Iterator[tuple[int, bool]]:
    """The lines where a source makes an error of the family, and whether it gives it a remedy."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS - {PROTOCOL}:
            remedies = [k.value for k in node.keywords if k.arg == "remedy"]
            yield node.lineno, bool(remedies) and not (isinstance(remedies[0], ast.Constant) and not remedies[0].value)


def test_every_refusal_of_the_language_has_a_remedy() -> None:
    found = [
        (f"{path.relative_to(ROOT)}:{line}", has)
        for layer in LAYERS
        for path in sorted((ROOT / "tilefoundry" / layer).rglob("*.py"))
        if not path.name.endswith("_test.py")
        for line, has in made(path.read_text(encoding="utf-8"))
    ]
    assert len(found) >= LEAST
    without = [place for place, has in found if not has]
    assert not without, "errors without a remedy:\n" + "\n".join(without)


@pytest.mark.parametrize("refuse", [TypeContext.error, Parser.refuse, Lowering.refuse, require])
def test_what_refuses_asks_for_a_remedy(refuse: Callable[..., object]) -> None:
    """Type rules, the front end, the lowering and the evaluator refuse by these."""
    assert inspect.signature(refuse).parameters["remedy"].default is inspect.Parameter.empty


def test_a_missing_remedy_is_found() -> None:
    planted = (
        'raise VerifyError("bad")\nraise VerifyError("bad", remedy=None)\nraise EvalError("bad", remedy="mend it")\n'
    )
    assert [has for _, has in made(planted)] == [False, False, True]
