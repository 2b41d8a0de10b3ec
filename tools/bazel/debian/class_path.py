"""Closes the class path of the Bazel server over the jars that its jars name.

Debian's jars name one another by absolute path in their manifests, which in a private folder would miss (or find the
base system's own, older jars). So the list is closed over those names, and the jars that have such names come last:
whatever they ask for was found before.

    class_path.py ROOT
"""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path


def _named_by(jar: Path) -> list[str]:
    """The absolute paths in the Class-Path of a jar's manifest."""
    with zipfile.ZipFile(jar) as archive:
        try:
            text = archive.read("META-INF/MANIFEST.MF").decode("utf-8", "replace")
        except KeyError:
            return []
    found = re.search(r"^Class-Path: *(.*)$", re.sub(r"\r?\n ", "", text), re.MULTILINE | re.IGNORECASE)
    return [os.path.normpath(name) for name in found[1].split() if name.startswith("/")] if found else []


def close_class_path(root: Path) -> None:
    """Rewrites the list of jars under `root`, from Debian's absolute paths to the whole closure inside `root`."""
    listing = root / "usr/share/bazel/bazel_classpath_debian_depends.txt"
    seen: set[str] = set()
    first: list[Path] = []
    last: list[Path] = []
    waiting = listing.read_text().split()[::-1]
    while waiting:
        name = waiting.pop()
        jar = Path(f"{root}{name}")
        if name in seen or not jar.exists():
            continue
        seen.add(name)
        named = _named_by(jar)
        (last if named else first).append(jar)
        waiting += named[::-1]
    listing.write_text("".join(f"{jar}\n" for jar in first + last))


if __name__ == "__main__":
    close_class_path(Path(sys.argv[1]))
