"""Text is the same in every process: under any hash seed and path, wherever in its file a program stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tilefoundry
from tests.text.programs import PRELUDE, PROGRAMS

_ROOT = Path(tilefoundry.__file__).parents[1]
_SHOW = """
from tilefoundry import as_script, normalize_to_module
from tilefoundry.ir.text import canonical_module_text
print(canonical_module_text(normalize_to_module({name})))
print(as_script({name}))
"""
# What else the process loads and builds first, and in which order, must not matter.
_OTHER_ORDER = "import tilefoundry.dsl.tf, tilefoundry.ir.tir, tilefoundry.passes, tilefoundry.python\n"
_OTHER_PROGRAMS = """\
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.samples import attention
others = [attention(32), attention(64), DimVar("M", 1, 4), DimVar("N", 2, 4)]
"""
_INDICES = """\
@func
def f(x: Tensor[(64,), "f32"]) -> Tensor[(4,), "f32"]:
    y = x[:4]
    for a in range(3):
        for b in range(4):
            for c in range(5):
                y = y + x[c + a * 2 + b : c + a * 2 + b + 4]
    return y
"""
_CASES = {
    "indices": "f",
    "loops": "f",
    "tiles": "f",
    "ex3": "Block",
    "ex4": "Disp",
    "mesh coordinates": "f",
    "partial": "f",
}


def shown(folder: Path, file: str, source: str, seed: str) -> str:
    """What a program file prints in a process of its own."""
    folder.mkdir(parents=True)
    (folder / file).write_text(source)
    path = os.pathsep.join([str(_ROOT), *(p for p in sys.path if p)])
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, file], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(_CASES))
def test_text_depends_on_nothing_but_the_program(name: str, tmp_path: Path) -> None:
    program, show = {**PROGRAMS, "indices": _INDICES}[name], _SHOW.format(name=_CASES[name])
    texts = {
        shown(tmp_path / "a", "program.py", PRELUDE + program + show, "0"),
        shown(tmp_path / "b/c", "other.py", f"{_OTHER_ORDER}{PRELUDE}\n\n# moved\n\n{program}{show}", "1"),
        shown(tmp_path / "d", "program.py", _OTHER_PROGRAMS + PRELUDE + program + show, "4711"),
    }
    assert len(texts) == 1
    text = texts.pop()
    assert str(tmp_path) not in text and " at 0x" not in text
