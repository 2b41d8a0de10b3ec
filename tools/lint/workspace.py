"""The files of a checkout, sorted by the language that decides who looks at them."""

import fnmatch
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# What a file is, by its name; the first match wins.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("starlark", ("BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "*.BUILD", "*.bzl")),
    ("python", ("*.py", "*.pyi")),
    ("cpp", ("*.h", "*.cuh", "*.cc", "*.cu", "*.inc")),
    ("lock", ("*.lock", "package.json", "package-lock.json", ".npmrc", "pip.conf")),
    ("bazelrc", (".bazelrc", "*.bazelrc")),
    ("text", ("*.md", "*.toml", "*.json", "*.yml", "*.yaml", "*.txt")),
    ("shell", ("*.sh",)),
)


@dataclass(frozen=True)
class Workspace:
    """A checkout: its root and the files in it, relative to the root and sorted."""

    root: Path
    files: tuple[str, ...]

    def of_kind(self, *kinds: str) -> list[str]:
        """The files of the given kinds ("python", "cpp", "starlark", "shell", "lock", "bazelrc", "text")."""
        return [f for f in self.files if self.kind(f) in kinds]

    def kind(self, file: str) -> str:
        """The kind of one file; "other" when no rule knows it."""
        name = file.rsplit("/", 1)[-1]
        for kind, patterns in _KINDS:
            if any(fnmatch.fnmatchcase(name, p) for p in patterns):
                return kind
        with (self.root / file).open("rb") as f:
            first = f.readline(80)
        return "shell" if first.startswith(b"#!") and first.rstrip().endswith(b"sh") else "other"

    def text(self, file: str) -> str:
        """The file's content; undecodable bytes are kept out of the way, not an error."""
        return (self.root / file).read_text(encoding="utf-8", errors="replace")


def open_workspace(root: Path) -> Workspace:
    """What git tracks in `root` or would track if it were added, less what is deleted there."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    return workspace_of(root, (f.decode() for f in listed.split(b"\0") if f))


def workspace_of(root: Path, files: Iterable[str]) -> Workspace:
    """The workspace of just these files, as far as they exist (a link is its target's business)."""
    there = (f for f in files if (root / f).is_file() and not (root / f).is_symlink())
    return Workspace(root, tuple(sorted(set(there))))
