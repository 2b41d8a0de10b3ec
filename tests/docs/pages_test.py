"""What the pages show is true: their programs run, and print what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tilefoundry
import tilefoundry.dsl  # registers the ops
from tests.docs.pages import Program, matches, programs
from tilefoundry.ir.core.op import op_names

_ROOT = Path(tilefoundry.__file__).parents[1]
_PAGES = [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md"))]
_PROGRAMS = [(page, program) for page in _PAGES for program in programs(page.read_text(encoding="utf-8"))]


def test_the_readme_shows_a_program_and_its_output() -> None:
    shown = [program for page, program in _PROGRAMS if page.name == "README.md"]
    assert shown, "README.md has no ```python block"
    assert any(program.output for program in shown), (
        "no ```python block of README.md is followed by its output (```text)"
    )


@pytest.mark.parametrize(
    ("page", "program"), _PROGRAMS, ids=[f"{page.relative_to(_ROOT)}:{program.line}" for page, program in _PROGRAMS]
)
def test_program(page: Path, program: Program, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program.source)
    path = os.pathsep.join(p for p in sys.path if p)
    # a program imports what lies beside it, as for any user; Bazel's Python would not let it
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**inherited, "PYTHONPATH": path, "TILEFOUNDRY_CACHE_DIR": str(tmp_path / "cache")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if program.output is not None:
        assert matches(program.output, done.stdout), f"{page.name} promises:\n{program.output}\nbut:\n{done.stdout}"


# written `m.w`, or taken apart by `a, b = ...`; `add` and the like are kinds of the other two
_WITHOUT_NAME = {"tuple_get_item", "mesh_coordinate", "binary", "unary"}


def test_every_op_is_on_a_page() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in _PAGES)
    prose = re.sub(r"^```.*?^```$", "", pages, flags=re.MULTILINE | re.DOTALL)  # a program that uses an op says nothing
    named = {word for span in re.findall(r"`([^`\n]+)`", prose) for word in re.findall(r"\w+", span)}
    missing = set(op_names("tf")) - named - _WITHOUT_NAME
    assert not missing, f"no page under docs says what these ops do: {', '.join(sorted(missing))}"


_PAGE = """\
```python
print("one")
```

```text
one
```
```python
x = 1
```
Words.
```text
not an output
```
"""


def test_programs_are_found_with_their_output() -> None:
    first, second = programs(_PAGE)
    assert (first.line, first.source, first.output) == (2, 'print("one")\n', "one\n")
    assert (second.line, second.source, second.output) == (9, "x = 1\n", None)


@pytest.mark.parametrize(
    ("promised", "printed", "same"),
    [
        ("one\n", "one\n", True),
        ("one\n", "two\n", False),
        ("took ... ms\nok", "took 3.1 ms  \nok\n", True),
        ("took ... ms", "took 3.1 s", False),
        ("one", "one\ntwo", False),
        ("a.c", "abc", False),
    ],
)
def test_matches(promised: str, printed: str, same: bool) -> None:
    assert matches(promised, printed) == same
