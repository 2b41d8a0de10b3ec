"""Build files name no registry: packages come through the machine's own clients, pinned by hash."""

import re

from tools.lint.workspace import Workspace

NAME = "registry hosts"
_BUILD_KINDS = ("starlark", "bazelrc", "lock", "shell")

_HOST = re.compile(
    r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|yarnpkg\.com|(deb|snapshot|security|ftp)\.debian\.org"
    r"|bcr\.bazel\.build|mirror\.bazel\.build|pypi\.nvidia\.com|developer\.download\.nvidia\.com|download\.pytorch\.org"
    r"|conda\.anaconda\.org|crates\.io|proxy\.golang\.org)\b"
)
_OPTION = re.compile(r"--(extra-)?index-url|--find-links|--trusted-host|--registry[= ](?!file:)|\bindex-url\s*=")
_URL = re.compile(r"\b(https?|ftp|git|ssh)://")
# A link in a comment or in a message tells a reader where to look; only in these files would a tool follow it.
_FOLLOWED = ("starlark", "bazelrc", "lock")


def find(workspace: Workspace) -> list[str]:
    """One finding a line that names a registry, an option that would choose one, or a URL that a tool would follow."""
    found = []
    for file in workspace.of_kind(*_BUILD_KINDS):
        for number, line in enumerate(workspace.text(file).splitlines(), 1):
            code = line.split("#", 1)[0]
            hit = _HOST.search(line) or _OPTION.search(code)
            if not hit and workspace.kind(file) in _FOLLOWED:
                hit = _URL.search(code)
            if hit:
                found.append(
                    f"{file}:{number}: {hit[0]!r} names where a package comes from; pin it by hash in a lock file"
                    " and let the machine's own client find it"
                )
    return found
