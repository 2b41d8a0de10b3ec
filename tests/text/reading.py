"""Reading printed programs back."""

from __future__ import annotations

import itertools
import linecache

from tilefoundry import as_script
from tilefoundry.ir import Function, Module, first_difference
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.tir import PrimFunction

Program = Function | PrimFunction | Module
_serial = itertools.count()


def execute(source: str) -> dict[str, object]:
    """Runs a program text as a file of its own, and gives its names."""
    name = f"<printed {next(_serial)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, object] = {"__name__": "printed"}
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    return scope


def read_back(source: str) -> Program:
    """What a printed script makes: the value of its last statement."""
    made = [v for v in execute(source).values() if isinstance(v, Program)]
    return made[-1]


def assert_round_trip(program: Program, module: Module | None = None) -> str:
    """Prints a program, reads it back, and demands an equal one; gives the script."""
    source = as_script(program, module)
    again = read_back(source)
    difference = first_difference(program, again)
    assert difference is None, f"{difference}\n\n{source}"
    assert as_script(again) == source, "what is read back prints differently"
    assert key_text(again) == key_text(program), "what is read back has another key"
    return source


def key_text(program: Program) -> str:
    """The canonical text of a program."""
    module = program if isinstance(program, Module) else Module(program.name, (program,), program.name)
    return canonical_module_text(module)
