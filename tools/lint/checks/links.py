"""A link between the pages leads to a file that is there."""

import re

from tools.lint.workspace import Workspace

NAME = "links"

_CODE = re.compile(r"^```.*?^```\s*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def find(workspace: Workspace) -> list[str]:
    """One finding for each relative link of a Markdown page to nothing; links to other sites are not looked at."""
    found = []
    for file in workspace.of_kind("text"):
        if not file.endswith(".md"):
            continue
        # code keeps its line breaks, so that lines still count
        text = _CODE.sub(lambda m: "\n" * m[0].count("\n"), workspace.text(file))
        for link in _LINK.finditer(text):
            target = link[1]
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (workspace.root / file).parent.joinpath(target).exists():
                found.append(f"{file}:{text[: link.start()].count(chr(10)) + 1}: {target!r} is not there")
    return found
