"""Every source file is in a Bazel target: what no target names is neither built nor tested."""

import ast
import re
from pathlib import PurePosixPath

from tools.lint.workspace import Workspace

NAME = "build sources"

_FOLDERS = ("tilefoundry/", "tools/", "tests/", "examples/", "third_party/")
_KINDS = ("python", "cpp", "shell")
_GLOB = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}


def find(workspace: Workspace) -> list[str]:
    """One finding for each source that its package's BUILD file does not name, by itself or by a pattern."""
    packages = {str(PurePosixPath(f).parent): f for f in workspace.files if f.endswith("/BUILD.bazel")}
    patterns: dict[str, list[re.Pattern[str]]] = {}
    found = []
    for file in workspace.of_kind(*_KINDS):
        if not file.startswith(_FOLDERS):
            continue
        package = next((str(p) for p in PurePosixPath(file).parents if str(p) in packages), None)
        if package is None:
            found.append(f"{file}: in no Bazel package; add a BUILD.bazel beside it")
            continue
        build = packages[package]
        if build not in patterns:
            patterns[build] = _patterns(workspace.text(build))
        name = str(PurePosixPath(file).relative_to(package))
        if not any(p.fullmatch(name) for p in patterns[build]):
            found.append(f"{file}: {build} does not name it, so nothing builds or tests it")
    return found


def _patterns(build: str) -> list[re.Pattern[str]]:
    """What a BUILD file names: its string literals, read as Bazel reads glob patterns.

    A comprehension names files by a part and a gap ("%s.py" % name, "{}.py".format(name), name + ".py"); each other
    literal of the file may fill the gap.
    """
    tree = ast.parse(build)
    literals = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    gaps = {re.sub(r"%s|\{\w*\}", "\0", text) for text in literals}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
            gaps.add("\0" + str(node.right.value))
    filled = {gap.replace("\0", text) for gap in gaps if "\0" in gap for text in literals}
    return [_glob(text.removeprefix(":")) for text in literals | filled]


def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*)", pattern)
    return re.compile("".join(_GLOB.get(part, re.escape(part)) for part in parts))
