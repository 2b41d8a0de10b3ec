"""`tilefoundry script` prints what makes the program again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tilefoundry.cli import testing
from tilefoundry.cli.objects import find
from tilefoundry.cli.testing import HERE, run
from tilefoundry.ir import structurally_equal


@pytest.mark.parametrize(
    ("attribute", "made"),
    [
        ("Block", testing.Block),
        ("Block.up", testing.Block.up),
        ("Twin", testing.Projection),
        ("twin", testing.Projection),
        ("twice", testing.twice),
        ("store", testing.store),
    ],
)
def test_what_is_printed_makes_the_program_again(
    attribute: str, made: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "printed.py").write_text(run("script", f"{HERE}:{attribute}"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "printed", raising=False)
    assert structurally_equal(find(f"printed:{made.name}"), made)  # type: ignore[attr-defined,arg-type]
