"""Names in printed source: those that authors gave stay, all others keep out of their way."""

from __future__ import annotations

import builtins
import keyword
import unicodedata

from tilefoundry.diagnostics import ExtractError


def is_name(name: str) -> bool:
    """Whether Python can bind this name, and reads it back as it is."""
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and name != "__debug__"
        and unicodedata.normalize("NFKC", name) == name
    )


def authored(name: str, what: str) -> str:
    """A name that must appear as it is.

    Raises:
        ExtractError: Python cannot bind it.
    """
    if not is_name(name):
        raise ExtractError(f"{what} has the name {name!r}, which is no Python name", remedy="rename it")
    return name


def fresh(base: str, taken: set[str]) -> str:
    """`base`, or with the first number that makes it new; it is taken from now on. Not a name of Python's own."""
    base = base if is_name(base) else "value"
    name, number = base, 1
    while name in taken or hasattr(builtins, name):
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name


class GlobalNames:
    """The names at the top of a script: imports on first use, and definitions, none of them a name of an author's.

    Args:
        reserved: every name that authors gave to anything.
    """

    def __init__(self, reserved: set[str]) -> None:
        self.taken = set(reserved)
        self._locals: set[str] = set()  # taken by local names, which several functions may use
        self._required: dict[str, str] = {}  # lines at the top, by the name that each binds
        self._imported: dict[tuple[str, str], str] = {}
        self._definitions: dict[str, str] = {}  # by expression

    def builtin(self, name: str) -> str:
        """The spelling of a builtin, which an author's name may hide."""
        if name not in self.taken:
            return name
        return self.imported("builtins", name)

    def imported(self, module: str, name: str) -> str:
        """The spelling of what `module` exports as `name`."""
        key = (module, name)
        if key not in self._imported:
            spelling = name if name not in self.taken else fresh(f"{name}_1", self.taken)
            self.taken.add(spelling)
            self._imported[key] = spelling
        return self._imported[key]

    def dsl(self, name: str) -> str:
        """The spelling of a name of `tilefoundry.dsl`."""
        return self.imported("tilefoundry.dsl", name)

    def local(self, base: str, used: set[str]) -> str:
        """A name for something inside of one function, which uses the names `used` already."""
        base = base if is_name(base) else "value"
        name, number = base, 1
        while name in used or hasattr(builtins, name) or (name in self.taken and name not in self._locals):
            name, number = f"{base}_{number}", number + 1
        self._locals.add(name)
        self.taken.add(name)
        return name

    def define_once(self, base: str, text: str) -> str:
        """The name of a value whose expression is `text`, after `base`; defined on first use."""
        if text not in self._definitions:
            self._definitions[text] = fresh(base, self.taken)
        return self._definitions[text]

    def require(self, name: str, line: str) -> None:
        """Lets a line at the top bind exactly this name, which is reserved already.

        Raises:
            ExtractError: another line binds it.
        """
        if self._required.setdefault(name, line) != line:
            raise ExtractError(f"two methods read different globals called '{name}'", remedy="rename one of them")

    @property
    def header(self) -> list[str]:
        """The lines at the top: imports, then definitions."""
        required = sorted(self._required.values(), key=lambda line: (not line.startswith("import "), line))
        plain = [line for line in required if line.startswith(("import ", "from "))]
        values = [line for line in self._required.values() if line not in plain]
        by_module: dict[str, list[str]] = {}
        for (module, name), spelling in self._imported.items():
            by_module.setdefault(module, []).append(name if name == spelling else f"{name} as {spelling}")
        imports = [line for module in sorted(by_module) for line in _from_import(module, sorted(by_module[module]))]
        return [
            "from __future__ import annotations", "",
            *plain, *([""] if plain else []),
            *imports, *([""] if self._definitions or values else []),
            *values,
            *(f"{name} = {text}" for text, name in self._definitions.items()),
        ]  # fmt: skip


def _from_import(module: str, names: list[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    return [line] if len(line) <= 120 else [f"from {module} import (", *(f"    {n}," for n in names), ")"]
