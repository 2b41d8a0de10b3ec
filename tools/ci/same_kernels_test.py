"""What counts as the same kernels: equal keys and cubins in libraries that differ."""

import struct
from pathlib import Path

import pytest

from tools.ci.same_kernels import differences, main


def library(cubin: bytes, host: bytes) -> bytes:
    """An ELF file of a host around one for CUDA, as far as the search for cubins looks."""
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<H", header, 18, 190)
    struct.pack_into("<QQ", header, 32, 64, 64)
    struct.pack_into("<HHHH", header, 54, len(cubin), 1, 0, 0)
    return b"\x7fELF" + host + bytes(header) + cubin


def folder(path: Path, key: str = "sm_90a k\n", cubin: bytes = b"sass", host: bytes = b"gcc") -> Path:
    path.mkdir()
    (path / "a.key").write_text(key)
    (path / "a.so").write_bytes(library(cubin, host))
    return path


def test_equal_kernels_of_two_compilers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder(tmp_path / "one")), str(folder(tmp_path / "two", host=b"clang"))]) == 0
    assert "keys and cubins of 1 libraries are equal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"key": "sm_90a z\n"}, "a: keys ['sm_90a', 'k'] and ['sm_90a', 'z']"),
        ({"cubin": b"SASS"}, "a: cubins differ"),
        ({"host": b"gcc"}, "a: one compiler built both"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_what_differs_is_named(other: dict[str, str], message: str, tmp_path: Path) -> None:
    two = {"host": b"clang", **other}
    assert differences(folder(tmp_path / "one"), folder(tmp_path / "two", **two)) == [message]  # type: ignore[arg-type]


def test_folders_without_kernels_are_no_success(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert differences(tmp_path / "one", tmp_path / "two") == ["the folders hold [] and []"]
    for name in ("one", "two"):
        (tmp_path / name / "a.so").write_bytes(b"\x7fELF" + name.encode())
        (tmp_path / name / "a.key").write_text("x86-64-v3 k\n")
    assert differences(tmp_path / "one", tmp_path / "two") == ["a: no cubin"]
