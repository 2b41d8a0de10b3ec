"""Writes a lock: every package that the named ones need, with the sha256 of a wheel for each supported Python.

    python3 tools/pypi/lock.py third_party/python/requirements.lock third_party/python/requirements.in \
        --files third_party/python/files.in

Asks the machine's own pip, as it is set up here, for Linux on x86-64. Versions that the lock holds are kept (--upgrade
lets them move), and so are their hashes: where pip is set up to prefer a file on this disk, a second run with
`PIP_CONFIG_FILE=/dev/null` adds the hash of the index's file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pip._vendor.packaging.markers import default_environment
from pip._vendor.packaging.requirements import Requirement

# As in extensions.bzl.
_PYTHONS = ("3.11", "3.12", "3.13")
# Up to glibc 2.34: today's torch needs 2.28, Debian 12 has 2.36.
_PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)]
_PLATFORMS += [f"manylinux{name}_x86_64" for name in ("2014", "2010", "1")] + ["linux_x86_64"]


def _resolve(python: str, arguments: list[str]) -> list[dict[str, object]]:
    """What pip would install for `python`."""
    tag = "cp" + python.replace(".", "")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--target", "none"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
    command += [f"--abi={abi}" for abi in (tag, "abi3", "none")]
    command += [f"--platform={platform}" for platform in _PLATFORMS]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        subprocess.run([*command, "--report", str(report), *arguments], check=True)
        installed: list[dict[str, object]] = json.loads(report.read_text())["install"]
    return installed


def _extras(needs: dict[tuple[str, str], list[Requirement]]) -> dict[str, set[str]]:
    """The extras of each package that another one asks for, under markers that hold on Linux and x86-64."""
    asked: dict[str, set[str]] = {}
    linux = {"platform_machine": "x86_64", "platform_system": "Linux", "sys_platform": "linux", "os_name": "posix"}
    while True:
        before = sum(map(len, asked.values()))
        for (python, name), requirements in needs.items():
            environment = {
                **default_environment(),
                **linux,
                "python_version": python,
                "python_full_version": f"{python}.0",
            }
            for requirement in requirements:
                marker = requirement.marker
                contexts = [{**environment, "extra": extra} for extra in {"", *asked.get(name, ())}]
                if requirement.extras and (marker is None or any(map(marker.evaluate, contexts))):
                    asked.setdefault(_normal(requirement.name), set()).update(requirement.extras)
        if sum(map(len, asked.values())) == before:
            return asked


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(lock: Path) -> dict[str, tuple[str, set[str]]]:
    """{name: (version, hashes)} of a lock that this program wrote."""
    held = {}
    for line in lock.read_text().replace("\\\n", " ").splitlines() if lock.exists() else []:
        if match := re.match(r"([\w.-]+)(?:\[[^]]*\])?==(\S+)", line):
            held[match[1]] = (match[2], set(re.findall(r"--hash=(sha256:\w+)", line)))
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lock", type=Path, help="the lock to write")
    parser.add_argument("requirements", type=Path, nargs="+", help="pip requirements files")
    parser.add_argument("--files", type=Path, help="requirements whose own needs are left out")
    parser.add_argument("--upgrade", action="store_true", help="let versions move")
    options = parser.parse_args()

    held = {} if options.upgrade else _read(options.lock)
    found: dict[str, tuple[str, set[str]]] = {}
    needs: dict[tuple[str, str], list[Requirement]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        (pins := Path(scratch, "pins.txt")).write_text("".join(f"{n}=={v}\n" for n, (v, _) in held.items()))
        runs = [["--constraint", str(pins)] + [word for path in options.requirements for word in ("-r", str(path))]]
        if options.files:
            runs.append(["--constraint", str(pins), "--no-deps", "-r", str(options.files)])
        for python in _PYTHONS:
            for item in [item for run in runs for item in _resolve(python, run)]:
                metadata, download = item["metadata"], item["download_info"]
                assert isinstance(metadata, dict) and isinstance(download, dict)
                name = _normal(metadata["name"])
                version = metadata["version"].split("+")[0]  # a local label (+cpu) is one build of the version
                if name in found and found[name][0] != version:
                    sys.exit(f"{name} resolves to {found[name][0]} and {version}: pin it in the requirements")
                found.setdefault(name, (version, set()))[1].add(download["archive_info"]["hash"].replace("=", ":"))
                needs.setdefault((python, name), []).extend(map(Requirement, metadata.get("requires_dist", [])))
    for name, (version, hashes) in found.items():
        if name in held and held[name][0] == version:
            hashes.update(held[name][1])
    extras = _extras(needs)
    lines = ["# Written by tools/pypi/lock.py from requirements.in and files.in beside it: do not edit.\n"]
    for name, (version, hashes) in sorted(found.items()):
        wanted = f"[{','.join(sorted(extras[name]))}]" if name in extras else ""
        lines.append(" \\\n    ".join([f"{name}{wanted}=={version}", *(f"--hash={h}" for h in sorted(hashes))]) + "\n")
    options.lock.write_text("".join(lines))


if __name__ == "__main__":
    main()
