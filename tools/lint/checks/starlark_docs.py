"""Every rule, provider, tag and attribute in a .bzl file says what it is for."""

import ast

from tools.lint.workspace import Workspace

NAME = "starlark docs"

_DOCUMENTED = ("rule", "repository_rule", "module_extension", "tag_class", "provider", "aspect")


def find(workspace: Workspace) -> list[str]:
    """One finding for each declaring call without `doc`. Starlark's grammar is a subset of Python's."""
    found = []
    for file in workspace.of_kind("starlark"):
        if not file.endswith(".bzl"):
            continue
        try:
            tree = ast.parse(workspace.text(file))
        except SyntaxError as e:
            found.append(f"{file}:{e.lineno}: does not parse: {e.msg}")
            continue
        private = _private(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node not in private and (name := _declares(node.func)):
                doc = next((k.value for k in node.keywords if k.arg == "doc"), None)
                if doc is None or (isinstance(doc, ast.Constant) and not doc.value):
                    found.append(f"{file}:{node.lineno}: {name}(...) without doc; say what it is for")
    return found


def _private(tree: ast.AST) -> set[ast.expr]:
    """The attributes that no user can set: their names begin with an underscore."""
    pairs = [p for n in ast.walk(tree) if isinstance(n, ast.Dict) for p in zip(n.keys, n.values, strict=True)]
    return {value for key, value in pairs if isinstance(key, ast.Constant) and str(key.value).startswith("_")}


def _declares(function: ast.expr) -> str | None:
    """The name of the declaring function, or None when it declares nothing that users see."""
    if isinstance(function, ast.Name):
        return function.id if function.id in _DOCUMENTED else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "attr":
        return f"attr.{function.attr}"
    return None
