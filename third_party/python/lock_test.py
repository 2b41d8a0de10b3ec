"""The lock holds what is asked for, and a hash for each supported Python."""

import re
from pathlib import Path

import pytest

_FOLDER = Path("third_party/python")


def _requirements(name: str) -> dict[str, str | None]:
    lines = [line for line in (_FOLDER / name).read_text().splitlines() if line and not line.startswith("#")]
    return {line.split("==")[0]: line.split("==")[1] if "==" in line else None for line in lines}


def _locked() -> dict[str, tuple[str, list[str]]]:
    text = (_FOLDER / "requirements.lock").read_text().replace("\\\n", " ")
    entries = re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==(\S+)(.*)$", text, re.MULTILINE)
    return {
        name: (version, re.findall(r"--hash=sha256:([0-9a-f]{64})(?:\s|$)", rest)) for name, version, rest in entries
    }


@pytest.mark.parametrize("name", ["requirements.in", "files.in"])
def test_everything_asked_for_is_locked(name: str) -> None:
    locked = _locked()
    for package, version in _requirements(name).items():
        assert package in locked, f"run tools/pypi/lock.py: {package} is not in the lock"
        assert version in (None, locked[package][0]), f"run tools/pypi/lock.py: {package}"


def test_every_entry_has_hashes() -> None:
    text = (_FOLDER / "requirements.lock").read_text().replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(entries) == len(_locked())
    assert all(hashes for _, hashes in _locked().values())


@pytest.mark.parametrize("package", ["apache-tvm-ffi", "markupsafe", "numpy", "pyyaml", "triton"])
def test_packages_built_for_one_python_have_a_wheel_for_each(package: str) -> None:
    assert len(_locked()[package][1]) >= 3


def test_torch_has_the_wheels_of_the_index_and_one_without_cuda() -> None:
    assert len(_locked()["torch"][1]) >= 4
    assert "nvidia-cublas" in _locked()  # what the index's wheel needs
