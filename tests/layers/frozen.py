"""Frozen objects stay as they were built: what may write to them, and which classes must be frozen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Where a frozen dataclass fills its own fields.
_CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}
# The one helper that does so for them; it may be called from constructors only.
_HELPER = "init_expr"
_WRITERS = {"__setattr__", "__delattr__"}
_MUTABLE = {"list", "dict", "set", "List", "Dict", "Set"}
# Packages that consist of values.
VALUES = (*(f"tilefoundry/ir/{p}" for p in ("core", "dims", "hir", "shard", "tir", "types")), "tilefoundry/target")


def mutations(root: Path, tree: str = "tilefoundry") -> list[str]:
    """Each place that writes to an object around its own class' protection, as ``path:line: what``."""
    found: list[str] = []
    for path, module in _modules(root, tree):
        for function, node in _with_functions(module):
            what = _written(node)
            if what is not None and not (function in _CONSTRUCTORS or (function == _HELPER and what == "object")):
                found.append(f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}: {what} in {function or 'module'}")
    return found


def unfrozen(root: Path, trees: tuple[str, ...] = VALUES) -> list[str]:
    """Each dataclass of the value layers that is not frozen, or has a field of a mutable type."""
    found: list[str] = []
    for tree in trees:
        for path, module in _modules(root, tree):
            for node in ast.walk(module):
                if isinstance(node, ast.ClassDef) and (decorator := _dataclass(node)) is not None:
                    place = f"{path.relative_to(root)}:{node.lineno}: {node.name}"
                    if "frozen" not in decorator:
                        found.append(f"{place} is not frozen")
                    found.extend(
                        f"{place}.{ast.unparse(field.target)} is mutable"
                        for field in node.body
                        if isinstance(field, ast.AnnAssign) and ast.unparse(field.annotation).split("[")[0] in _MUTABLE
                    )
    return found


def _modules(root: Path, tree: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((root / tree).rglob("*.py")):
        if not path.name.endswith("_test.py"):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def _with_functions(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node with the name of the function around it."""
    for child in ast.iter_child_nodes(node):
        yield inside, child
        name = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else inside
        yield from _with_functions(child, "" if isinstance(child, ast.ClassDef) else name)


def _written(node: ast.AST) -> str | None:
    """What a node does to an object's fields, if anything: ``object.__setattr__``, ``init_expr``, ``x.__dict__``."""
    if isinstance(node, ast.Call):
        match node.func:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if attr in _WRITERS:
                return owner
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attr) if attr in _WRITERS:
                return "super()"
            case ast.Name(id=name) if name == _HELPER:
                return _HELPER
            case ast.Attribute(value=ast.Attribute(attr="__dict__"), attr=attr):
                return f"__dict__.{attr}"
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)):
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        if any("__dict__" in ast.unparse(t) for t in targets):
            return "__dict__"
    return None


def _dataclass(node: ast.ClassDef) -> dict[str, bool] | None:
    """The true arguments of a class' dataclass decorator, None when it has none."""
    for decorator in node.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(name).split(".")[-1] == "dataclass":
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return {k.arg: True for k in keywords if k.arg and ast.unparse(k.value) == "True"}
    return None
