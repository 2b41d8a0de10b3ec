"""Puts one hash-pinned package into a folder, and says what it depends on.

Run by the repository rules of this folder under the machine's own python3, with the machine's own pip as it is set up
there; nothing here names an index. The wheels are kept in a store that all output bases of a user share: one folder per
sha256, published by a single rename, so that any number of builds may fill it at once, and verified before each use.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from email.parser import HeaderParser
from pathlib import Path

try:
    from pip._vendor.packaging import tags
    from pip._vendor.packaging.markers import default_environment
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
except ImportError:
    sys.exit(f"{sys.executable} has no pip, which fetches the pinned packages (Debian: apt-get install python3-pip)")

# Not the moment of the download: file times enter debug line tables, and so the bytes of what is compiled.
_FILE_TIME = 315532800  # 1980-01-01, the earliest that a zip file can say


def _supported_tags(version: tuple[int, int]) -> list[tags.Tag]:
    """The wheel tags that a CPython of `version` takes on this machine, best first."""
    platforms = list(tags.platform_tags())
    interpreter = f"cp{version[0]}{version[1]}"
    found = list(tags.cpython_tags(version, platforms=platforms))
    return found + list(tags.compatible_tags(version, interpreter, platforms))


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _stored(store: Path, hashes: list[str], supported: set[tags.Tag]) -> Path | None:
    """The first pinned wheel in the store that suits this Python; a file that is not what its folder says goes."""
    for sha in hashes:
        for wheel in sorted((store / sha).glob("*.whl")):
            try:
                suits = not supported.isdisjoint(parse_wheel_filename(wheel.name)[3])
            except InvalidWheelFilename:
                suits = False
            if not suits:
                continue
            if _digest(wheel) == sha:
                return wheel
            print(f"dropping {wheel}: its contents do not have this hash", file=sys.stderr)
            damaged = Path(tempfile.mkdtemp(prefix=".damaged-", dir=store))
            with contextlib.suppress(FileNotFoundError):  # another build may have dropped it
                os.rename(store / sha, damaged / sha)  # nobody ever sees a folder half removed
            shutil.rmtree(damaged, ignore_errors=True)
    return None


def _pip(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check", "--no-deps"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def _target_options(version: tuple[int, int], supported: list[tags.Tag]) -> list[str]:
    """pip's options for a CPython of `version` on this machine, which need not be the one that runs pip."""
    abis = (f"cp{version[0]}{version[1]}", "abi3", "none")
    platforms = dict.fromkeys(tag.platform for tag in supported if tag.platform != "any")
    options = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", f"{version[0]}.{version[1]}"]
    return options + [f"--abi={abi}" for abi in abis] + [f"--platform={platform}" for platform in platforms]


def _fetch(store: Path, line: str, version: tuple[int, int], supported: list[tags.Tag], disk_first: bool) -> Path:
    """Has pip fetch the pinned wheel, and publishes it in the store."""
    store.mkdir(parents=True, exist_ok=True)
    download = ["download", "--require-hashes", *_target_options(version, supported)]
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=store) as scratch:
        (pinned := Path(scratch, "requirements.txt")).write_text(line + "\n")
        download += ["--dest", scratch, "--requirement", str(pinned)]
        # pip prefers the index's file to one that its find-links setting names on this disk, since that comes with no
        # hash to match; where the disk is to win, ask for the disk alone first.
        for attempt in [["--no-index"], []] if disk_first else [[]]:
            got = _pip(download + attempt)
            if got.returncode == 0:
                break
        wheels = list(Path(scratch).glob("*.whl"))
        if got.returncode != 0 or len(wheels) != 1:
            sys.exit(f"pip could not fetch {line.split()[0]} for Python {version[0]}.{version[1]}:\n{got.stdout}")
        sha = _digest(wheels[0])
        Path(scratch, "publish").mkdir()
        wheels[0].rename(Path(scratch, "publish", wheels[0].name))
        try:
            os.rename(Path(scratch, "publish"), store / sha)
        except OSError:  # another build published it first
            if not (store / sha / wheels[0].name).exists():
                raise
        return store / sha / wheels[0].name


def _dependencies(site: Path, version: tuple[int, int], extras: set[str]) -> list[str]:
    """The normalised names of what the installed package needs under a CPython of `version`."""
    [metadata] = site.glob("*.dist-info/METADATA")
    with metadata.open(encoding="utf-8") as stream:
        lines = HeaderParser().parse(stream).get_all("Requires-Dist") or []
    python = f"{version[0]}.{version[1]}"
    environment = {**default_environment(), "python_version": python, "python_full_version": python + ".0"}
    needed = set()
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in {"", *extras}):
            needed.add(canonicalize_name(requirement.name))
    return sorted(needed)


def _compile(site: Path, version: tuple[int, int]) -> None:
    """Puts bytecode beside the modules where this Python is of `version`, the same bytes each time.

    Tests run in sandboxes, where no bytecode could stay: each would compile what it imports anew (torch: two seconds).
    The modules never change, so nothing is compared with them. Templates that are no Python stay without.
    """
    if version != sys.version_info[:2]:
        return
    command = [sys.executable, "-I", "-S", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*command, "-s", str(site), str(site)], env={"PYTHONHASHSEED": "0"}, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="folder of wheels by sha256, shared and persistent")
    parser.add_argument("--target", type=Path, required=True, help="folder to install into")
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}", help="e.g. 3.12")
    parser.add_argument("--disk-first", action="store_true", help="prefer pip's find-links files to the index's")
    parser.add_argument("requirement", help="name[extras]==version --hash=sha256:... ...")
    options = parser.parse_args()

    version = (int(options.python.split(".")[0]), int(options.python.split(".")[1]))
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", options.requirement)
    supported = _supported_tags(version)
    wheel = _stored(options.store, hashes, set(supported))
    if wheel is None:
        wheel = _fetch(options.store, options.requirement, version, supported, options.disk_first)
    install = ["install", "--no-index", "--no-compile", "--no-warn-conflicts", *_target_options(version, supported)]
    got = _pip([*install, "--target", str(options.target), str(wheel)])
    if got.returncode != 0:
        sys.exit(f"pip could not install {wheel.name}:\n{got.stdout}")
    _compile(options.target, version)
    for folder, _, files in os.walk(options.target):
        for name in files:
            os.utime(os.path.join(folder, name), (_FILE_TIME, _FILE_TIME), follow_symlinks=False)
    extras = set(Requirement(options.requirement.split(" ")[0]).extras)
    print("\n".join(_dependencies(options.target, version, extras)))


if __name__ == "__main__":
    main()
