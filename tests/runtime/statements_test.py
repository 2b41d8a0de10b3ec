"""Each statement of the runtime's behaviour has a test of its own name."""

from __future__ import annotations

from pathlib import Path

import tests.runtime
import tilefoundry.cli
import tilefoundry.runtime
from tests.runtime.statements import STATEMENTS, covered, missing

_FOLDERS = tuple(
    Path(f).parent for f in (tilefoundry.runtime.__file__, tests.runtime.__file__, tilefoundry.cli.__file__)
)


def test_every_statement_has_a_test() -> None:
    files = [file for folder in _FOLDERS for file in folder.rglob("*_test.py") if "include" not in file.parts]
    compiler = Path(tests.runtime.__file__).parents[1] / "compiler"  # what crosses the boundary of what it made
    found = covered([*files, compiler / "edge_statements_test.py"])
    assert missing(found) == [], "statements without a test"
    unknown = sorted(set(found) - STATEMENTS)
    assert unknown == [], f"tests of no such statement: {[found[n] for n in unknown]}"


def test_a_missing_one_is_listed(tmp_path: Path) -> None:
    (tmp_path / "one_test.py").write_text(
        "def test_statement_1_a() -> None: ...\n"
        "class Group:\n    def test_2(self) -> None: ...\n"
        "def test_statements_3_and_4_b() -> None: ...\n"
        "def test_5d() -> None: ...\ndef test_two_things() -> None: ...\ndef helper_6() -> None: ...\n"
    )
    found = covered(tmp_path.glob("*_test.py"))
    assert sorted(found) == [1, 2, 3, 4]
    assert found[3] == found[4] == ["one_test.py::test_statements_3_and_4_b"]
    assert missing(found) == sorted(STATEMENTS - {1, 2, 3, 4})
    assert missing(STATEMENTS) == []
