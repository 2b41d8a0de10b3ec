"""Upkeep of the disk cache: what is reported, what counts as damaged, and that only entries are ever removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tilefoundry.driver.cache import DiskCache
from tilefoundry.driver.cache_upkeep import clear, report, verify

OLD, NEW = "a" * 64, "b" * 64


def make(folder: Path) -> None:
    (folder / "twice.sources").mkdir()
    (folder / "twice.so").write_bytes(b"library" * 100)
    (folder / "twice.sources" / "k.cc").write_text("text")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    cache = DiskCache(tmp_path / "cache")
    for key in (OLD, NEW):
        cache.get_or_make(key, make)
    entry = tmp_path / "cache" / "entries" / OLD
    past = time.time() - 3600
    os.utime(entry / "manifest.json", (past, past))
    os.utime(entry, (past - 60, past - 60))
    return tmp_path / "cache"


def test_what_is_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(root))
    monkeypatch.setenv("TILEFOUNDRY_CACHE_LIMIT", "123456")
    found = report()
    assert (found.root, found.limit) == (root, 123456)
    assert [(e.key, e.name) for e in found.entries] == [(NEW, "twice"), (OLD, "twice")]
    for entry in found.entries:
        on_disk = sum(p.stat().st_size for p in (root / "entries" / entry.key).rglob("*") if p.is_file())
        assert entry.bytes == on_disk > 700
    assert found.bytes == sum(e.bytes for e in found.entries)
    new, old = found.entries
    assert new.age < 60 and new.idle < 60 and 3600 <= old.idle < 3660 <= old.age < 3720


def test_an_empty_place_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "nothing"
    assert report(root).entries == () and verify(root).intact == 0 and clear(root).entries == ()
    assert not root.exists()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda e: (e / "twice.so").write_bytes(b"librarz" * 100), "twice.so has another content"),
        (lambda e: (e / "twice.so").unlink(), "twice.so is missing"),
        (lambda e: (e / "twice.sources" / "more.cc").touch(), "twice.sources/more.cc is not in manifest.json"),
        (lambda e: (e / "manifest.json").write_text("{"), "manifest.json is missing or cannot be read"),
        (lambda e: (e / "manifest.json").write_text("[]"), "manifest.json is missing or cannot be read"),
        (lambda e: e.rename(e.with_name("c" * 64)), "manifest.json is of the entry aaaa"),
    ],
)
def test_damaged_entries_are_named_and_removed(root: Path, harm: object, words: str) -> None:
    assert callable(harm)
    harm(root / "entries" / OLD)
    found = verify(root)
    assert found.intact == 1 and len(found.damaged) == 1
    [(key, reason)] = found.damaged.items()
    assert reason.startswith(words) and not (root / "entries" / key).exists()
    assert (root / "entries" / NEW).is_dir() and not list((root / "staging").iterdir())
    assert verify(root).damaged == {}


def test_clear_removes_entries_and_nothing_else(root: Path) -> None:
    (root / "entries" / "notes").mkdir()
    (root / "entries" / "notes" / "mine.txt").touch()
    (root / "file.txt").touch()
    assert {e.key for e in clear(root).entries} == {OLD, NEW}
    assert report(root).entries == ()
    assert (root / "entries" / "notes" / "mine.txt").exists() and (root / "file.txt").exists()
    assert not DiskCache(root).get_or_make(OLD, make)[1]


def test_a_place_of_others_is_reported_but_not_touched(root: Path) -> None:
    root.chmod(0o777)
    assert len(report(root).entries) == 2
    for act in (verify, clear):
        with pytest.raises(ValueError, match="is not used: others may write it"):
            act(root)
    assert len(report(root).entries) == 2


@pytest.mark.parametrize("text", ["1G", "-1", "1.5"])
def test_a_limit_is_a_number_of_bytes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_LIMIT", text)
    with pytest.raises(ValueError, match=f"TILEFOUNDRY_CACHE_LIMIT: expected a number of bytes, got '{text}'"):
        report(tmp_path)
