"""Every import that a Python file makes: top-level, in functions, for type checkers, and by name through importlib."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DYNAMIC = ("import_module", "__import__")

# Stands for a module whose name is computed, when the file holds no string that could be it.
COMPUTED = "?"


@dataclass(frozen=True)
class Import:
    """One import of one module.

    Attributes:
      module: the dotted name; for `from a import b` it is "a.b" if that is a module of the tree, else "a".
      line: where, from 1.
      late: made when a function runs, not when the file is imported. A module's own `__getattr__` (PEP 562) does not
        count: it is how a package offers names of its parts without loading them.
    """

    module: str
    line: int
    late: bool


def module_name(root: Path, file: Path) -> str:
    """The dotted name of a file below the import root; a package's is that of its `__init__.py`."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(root: Path, file: Path) -> list[Import]:
    """All imports of a file in the tree under the import root, in the order of their lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    package = module_name(root, file)
    if file.name != "__init__.py":
        package = package.rpartition(".")[0]
    found: list[Import] = []
    dynamic = {*_DYNAMIC, *_aliases(tree)}
    for node, late in _walk(tree, False):
        if isinstance(node, ast.Import):
            found += [Import(a.name, node.lineno, late) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [Import(m, node.lineno, late) for m in _from(root, package, node)]
        elif isinstance(node, ast.Call) and _called(node) in dynamic:
            found += [Import(m, node.lineno, late) for m in _by_name(tree, package, node)]
    return sorted(found, key=lambda i: i.line)


def _walk(node: ast.AST, late: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes below one, each with whether a function body holds it."""
    for child in ast.iter_child_nodes(node):
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        lazy_names = isinstance(node, ast.Module) and getattr(child, "name", "") == "__getattr__"
        inside = late or (function and not lazy_names)
        yield child, inside
        yield from _walk(child, inside)


def _aliases(tree: ast.Module) -> Iterator[str]:
    """What `from importlib import import_module as name` calls it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            yield from (a.asname for a in node.names if a.name in _DYNAMIC and a.asname)


def _from(root: Path, package: str, node: ast.ImportFrom) -> Iterator[str]:
    base = _absolute(package, "." * node.level + (node.module or ""))
    for alias in node.names:
        path = root.joinpath(*base.split("."), alias.name)
        yield f"{base}.{alias.name}" if path.with_suffix(".py").is_file() or path.is_dir() else base


def _absolute(package: str, name: str) -> str:
    """The name without leading dots, as seen from a package."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    above = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*above, name.lstrip(".")]) if name.lstrip(".") else ".".join(above)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _by_name(tree: ast.Module, package: str, call: ast.Call) -> list[str]:
    """The modules that a call of importlib may mean: its literal, else every string of the file that names one."""
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name"), None)
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return [_absolute(package, first.value)]
    strings = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    named = {s for s in strings if s.startswith("tilefoundry.") and s.replace(".", "a").isidentifier()}
    return sorted(named) or [COMPUTED]
