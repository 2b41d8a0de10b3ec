"""The store of wheels: one copy for all builds, right under concurrent writers, verified before use."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

_PYTHON = str(Path(sys.base_prefix, "bin/python3"))  # the machine's own, which has pip


@dataclass(frozen=True)
class Wheel:
    path: Path
    sha: str

    @property
    def requirement(self) -> str:
        name, version = self.path.name.split("-")[:2]
        return f"{name}=={version} --hash=sha256:{self.sha}"


def _wheel(folder: Path, tag: str = "py3-none-any", requires: tuple[str, ...] = (), text: str = "") -> Wheel:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"tiny-1.0-{tag}.whl"
    metadata = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", f"TEXT = {text!r}\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", metadata)
        archive.writestr("tiny-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return Wheel(path, hashlib.sha256(path.read_bytes()).hexdigest())


def _start(tmp_path: Path, target: str, requirement: str, links: Path, *options: str) -> subprocess.Popen[str]:
    command = [_PYTHON, "tools/pypi/wheel.py", "--store", str(tmp_path / "store"), "--target", str(tmp_path / target)]
    # this test's folder is all the index there is
    pip = {"PIP_FIND_LINKS": str(links), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **pip}
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *options, requirement], env=environment, stdout=pipe, stderr=pipe, text=True)


def _run(tmp_path: Path, target: str, requirement: str, links: Path, *options: str) -> tuple[int, str, str]:
    process = _start(tmp_path, target, requirement, links, *options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_installs_and_keeps_the_wheel_by_its_hash(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    code, _, err = _run(tmp_path, "site", wheel.requirement, tmp_path / "links")
    assert code == 0, err
    assert (tmp_path / "site/tiny.py").exists()
    assert (tmp_path / "store" / wheel.sha / wheel.path.name).exists()
    wheel.path.unlink()  # no index any more
    code, _, err = _run(tmp_path, "again", wheel.requirement, tmp_path / "links")
    assert code == 0, err
    assert (tmp_path / "again/tiny.py").exists()


def test_file_times_do_not_depend_on_the_day(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    assert _run(tmp_path, "site", wheel.requirement, tmp_path / "links")[0] == 0
    assert {path.stat().st_mtime for path in (tmp_path / "site").rglob("*") if path.is_file()} == {315532800.0}


def test_bytecode_is_there_and_the_same_each_time(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links", text="a text")
    found = []
    for target in ("site", "again"):
        assert _run(tmp_path, target, wheel.requirement, tmp_path / "links")[0] == 0
        [compiled] = (tmp_path / target).rglob("tiny.*.pyc")
        found.append(compiled.read_bytes())
    assert found[0] == found[1]
    assert found[0][4:8] == (1).to_bytes(4, "little")  # by hash and never compared: file times play no part
    assert str(tmp_path).encode() not in found[0]


def test_another_python_gets_no_bytecode(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.13"
    assert _run(tmp_path, "site", wheel.requirement, tmp_path / "links", "--python", other)[0] == 0
    assert not list((tmp_path / "site").rglob("*.pyc"))


def test_wrong_hash_is_refused(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    code, _, err = _run(tmp_path, "site", f"tiny==1.0 --hash=sha256:{'0' * 64}", tmp_path / "links")
    assert code != 0
    assert "DO NOT MATCH THE HASHES" in err
    assert wheel.sha in err
    assert not (tmp_path / "site/tiny.py").exists()


def test_damaged_wheel_in_the_store_is_fetched_again(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    assert _run(tmp_path, "site", wheel.requirement, tmp_path / "links")[0] == 0
    stored = tmp_path / "store" / wheel.sha / wheel.path.name
    stored.write_bytes(stored.read_bytes()[:-1] + b"?")
    code, _, err = _run(tmp_path, "again", wheel.requirement, tmp_path / "links")
    assert code == 0, err
    assert "do not have this hash" in err
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == wheel.sha


def test_many_at_once_share_one_copy(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links")
    running = [_start(tmp_path, f"site{i}", wheel.requirement, tmp_path / "links") for i in range(4)]
    for process in running:
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    assert all((tmp_path / f"site{i}/tiny.py").exists() for i in range(4))
    assert [path.name for path in (tmp_path / "store").iterdir()] == [wheel.sha]  # and no left-overs


@pytest.mark.parametrize(("python", "other"), [("3.12", "3.11"), ("3.13", "3.12")])
def test_each_python_gets_its_own_wheel(tmp_path: Path, python: str, other: str) -> None:
    tags = {
        version: "cp{0}-cp{0}-manylinux_2_17_x86_64".format(version.replace(".", "")) for version in (python, other)
    }
    wheels = {version: _wheel(tmp_path / "links", tag, text=version) for version, tag in tags.items()}
    both = f"tiny==1.0 --hash=sha256:{wheels[other].sha} --hash=sha256:{wheels[python].sha}"
    for version in (other, python):
        code, _, err = _run(tmp_path, version, both, tmp_path / "links", "--python", version)
        assert code == 0, err
        assert version in (tmp_path / version / "tiny.py").read_text()


def test_no_wheel_for_this_python_names_the_version(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "links", "cp311-cp311-manylinux_2_17_x86_64")
    code, _, err = _run(tmp_path, "site", wheel.requirement, tmp_path / "links", "--python", "3.13")
    assert code != 0
    assert "tiny==1.0 for Python 3.13" in err


def test_dependencies_follow_markers_and_extras(tmp_path: Path) -> None:
    requires = (
        "always",
        'Old_Python; python_version < "3.12"',
        'new.python; python_version >= "3.12"',
        'windows; sys_platform == "win32"',
        'asked; extra == "more"',
        'unasked; extra == "other"',
    )
    wheel = _wheel(tmp_path / "links", requires=requires)
    requirement = wheel.requirement.replace("tiny==", "tiny[more]==")
    for python, expected in {"3.11": "old-python", "3.12": "new-python"}.items():
        code, out, err = _run(tmp_path, python, requirement, tmp_path / "links", "--python", python)
        assert code == 0, err
        assert out.split() == sorted(["always", "asked", expected])
