"""Libraries are told apart by content, and symbols that are missing by name."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from tilefoundry.runtime.library import find_symbol, open_library

_SOURCE = """\
#include <cstdint>
struct Value {{ int32_t type_index; uint32_t padding; int64_t value; }};
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_answer(void*, Value const*, int32_t, Value* result) {{
  *result = {{1, 0, {answer}}};  // kTVMFFIInt
  return 0;
}}
"""


def build(path: Path, answer: int) -> Path:
    source = path.with_suffix(".cc")
    source.write_text(_SOURCE.format(answer=answer))
    subprocess.run([os.environ.get("CXX", "g++"), "-shared", "-fPIC", source, "-o", path], check=True)
    return path


def test_a_rebuilt_library_at_the_same_path_is_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    first = find_symbol(open_library(build(path, 1)), "answer", path)
    second = find_symbol(open_library(build(path, 2)), "answer", path)
    assert (first(), second()) == (1, 2)


def test_one_content_is_loaded_once(tmp_path: Path) -> None:
    path = build(tmp_path / "a.so", 3)
    copy = tmp_path / "b.so"
    copy.write_bytes(path.read_bytes())
    assert open_library(path) is open_library(copy)


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no kernel library at .*none.so"):
        open_library(tmp_path / "none.so")
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF nothing more")
    with pytest.raises(RuntimeError, match="cannot load .*broken.so"):
        open_library(broken)


@pytest.mark.parametrize(("machine", "number"), [("aarch64", 183), ("x86_64", 62)])
def test_a_library_for_another_family_is_refused_by_name(
    machine: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path / "foreign.so", 5)
    content = path.read_bytes()
    path.write_bytes(content[:18] + number.to_bytes(2, "little") + content[20:])  # e_machine
    monkeypatch.setattr(platform, "machine", lambda: {"aarch64": "x86_64", "x86_64": "aarch64"}[machine])
    with pytest.raises(
        RuntimeError, match=f"cannot load .*foreign.so': it is built for {machine}, and this machine is"
    ):
        open_library(path)


def test_a_missing_symbol_is_named_with_the_path(tmp_path: Path) -> None:
    path = build(tmp_path / "lib.so", 4)
    with pytest.raises(RuntimeError, match=r"lib.so' has no symbol 'question'"):
        find_symbol(open_library(path), "question", path)
