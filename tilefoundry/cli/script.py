"""``tilefoundry script``: a program as Python source."""

from __future__ import annotations

from tilefoundry.cli.objects import OBJECT, find, module_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.text import as_script
from tilefoundry.ir.tir import PrimFunction


def script(spelling: OBJECT) -> None:
    """Prints a program as Python source that makes it again."""
    found = find(spelling)
    program = found if isinstance(found, (Function, PrimFunction)) else module_of(found, spelling, "script")
    print(as_script(program), end="")
