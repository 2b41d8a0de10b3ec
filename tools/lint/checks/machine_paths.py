"""No file depends on, or tells of, the machine it was written on."""

import re

from tools.lint.workspace import Workspace

NAME = "machine paths"

# Home and work folders as absolute paths: not after a variable or a path component ("$dir/work/", "a/home/b"). The
# temporary folder itself may be named, a folder inside it may not.
_PATH = re.compile(
    r"(?<![\w$}\])/.*-])/(root|work|home/(?!somebody\b)\w+|Users/\w+|var/tmp|tmp/[\w.-]+)(?=[/\s\"'`:,;)]|$)"
)


def find(workspace: Workspace) -> list[str]:
    """One finding for each absolute path into a home, work or temporary folder."""
    found = []
    for file in workspace.files:
        for number, line in enumerate(workspace.text(file).splitlines(), 1):
            for hit in _PATH.finditer(line):
                place = f"{file}:{number}: {hit[0]!r}"
                found.append(f"{place} is a path of one machine; make it relative, or take it from the environment")
    return found
