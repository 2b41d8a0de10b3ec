"""A file that has grown past its kind's bound holds more than one idea."""

from tools.lint.workspace import Workspace

NAME = "file length"

_BOUNDS = ((".bzl", 150), (".h", 300), (".cuh", 300), (".py", 400), (".cc", 400), (".cu", 400), (".sh", 400))


def find(workspace: Workspace) -> list[str]:
    """One finding for each file that is longer than its suffix allows."""
    found = []
    for file in workspace.files:
        bound = next((lines for suffix, lines in _BOUNDS if file.endswith(suffix)), None)
        if bound is not None and (lines := len(workspace.text(file).splitlines())) > bound:
            found.append(f"{file}: {lines} lines, the bound is {bound}; split it by idea")
    return found
