"""Whatever an author writes, the front end diagnoses it or gives a valid program; it raises nothing else.

A diagnosis has a place in the author's text and a remedy. A program that is accepted is well formed, and has a text.
The sequence of mutants is seeded; TILEFOUNDRY_FUZZ_SECONDS sets how much of it is run.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import time
import traceback
import warnings

import pytest

import tilefoundry.diagnostics
from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.tir.text import tir_text
from tilefoundry.ir.verify import verify_function, verify_module, verify_prim_function
from tilefoundry.python.fuzz.corpus import PROGRAMS
from tilefoundry.python.fuzz.mutations import mutate
from tilefoundry.python.testing import load_program

SECONDS = float(os.environ.get("TILEFOUNDRY_FUZZ_SECONDS", "20"))
FIRST = int(os.environ.get("TILEFOUNDRY_FUZZ_SEED", "0"))
OURS = os.path.dirname(tilefoundry.diagnostics.__file__).removesuffix("diagnostics")
FRONT_END = os.path.join(OURS, "python", "")
AT_LEAST = 400  # mutants, however slow the machine is


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_that_are_mutated_are_valid(name: str) -> None:
    assert check_accepted(load_program(PROGRAMS[name])) > 0


def check_accepted(scope: dict[str, object]) -> int:
    """Checks what a program defines, and counts it."""
    found = 0
    for value in scope.values():
        if isinstance(value, Module):
            verify_module(value)
            assert canonical_module_text(value)
            found += 1
        elif isinstance(value, Function) and value.body is not None:
            verify_function(value)
            found += 1
        elif isinstance(value, PrimFunction):
            verify_prim_function(value)
            assert tir_text(value)
            found += 1
    return found


def mutant(seed: int, trees: list[ast.Module]) -> str | None:
    """The text of a mutated program, or None when Python itself refuses it."""
    rng = random.Random(seed)
    tree = copy.deepcopy(rng.choice(trees))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutate(tree, trees, rng)
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


def raised_in(error: Exception) -> list[str]:
    """The files of the frames below the program's own text, outermost first."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    programs = [k for k, name in enumerate(files) if name.startswith("<program ")]
    return files[programs[-1] + 1 :] if programs else files


def refused(text: str) -> bool:
    """Whether a program is refused; checks the diagnosis, or what the program defines.

    Python runs the text outside of functions. What it raises there itself, or a class of its library (an enum that is
    called), is its own matter, and what a constructor refuses there has its place in Python's traceback.
    """
    diagnosis: TileFoundryError | None = None
    try:
        check_accepted(load_program(text))
    except TileFoundryError as error:
        diagnosis = error
    except Exception as error:
        if any(file.startswith(OURS) for file in raised_in(error)):
            raise
        return True
    if diagnosis is not None:
        if any(file.startswith(FRONT_END) for file in raised_in(diagnosis)):
            assert diagnosis.span is not None, f"no place: {diagnosis}"
        assert diagnosis.remedy, f"no remedy: {diagnosis}"
        assert str(diagnosis)
    return diagnosis is not None


def test_mutated_programs_are_diagnosed() -> None:
    trees = [ast.parse(text) for text in PROGRAMS.values()]
    seed, known = FIRST, {True: 0, False: 0}
    deadline = time.monotonic() + SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python's own remarks on the mutants
        while time.monotonic() < deadline or seed < FIRST + AT_LEAST:
            seed += 1
            text = mutant(seed, trees)
            if text is None:
                continue
            try:
                known[refused(text)] += 1
            except Exception as error:
                error.add_note(f"TILEFOUNDRY_FUZZ_SEED={seed - 1}:\n{text}")
                raise
    print(f"{seed - FIRST} mutants: {known[True]} refused, {known[False]} accepted")
    assert known[True] > AT_LEAST // 4, known
    assert known[False] > AT_LEAST // 50, known


def test_what_python_raises_itself_is_told_from_what_we_raise() -> None:
    assert refused('kind = StorageKind("thread", 32)')  # in a frame of Python's enum
    with pytest.raises(TypeError, match="ours"):
        refused("from tilefoundry.python.fuzz import fuzz_test\nfuzz_test.fails()")


def fails() -> None:
    """Raises, in a frame of ours, what is no diagnosis."""
    raise TypeError("ours")
