"""The disk cache: one maker, no half entries, nothing damaged is served, and a way out where it cannot be written."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from pathlib import Path

import pytest

from tilefoundry.driver.cache import DiskCache, default_root, open_cache

KEY = "a" * 64


def make(folder: Path) -> None:
    (folder / "sources").mkdir()
    (folder / "lib.so").write_bytes(b"library" * 100)
    (folder / "sources" / "k.cc").write_text("text")


def never(folder: Path) -> None:
    raise AssertionError("made again")


def test_the_second_time_is_a_hit(tmp_path: Path) -> None:
    entry, hit = DiskCache(tmp_path).get_or_make(KEY, make)
    assert not hit and (entry / "sources" / "k.cc").read_text() == "text"
    assert DiskCache(tmp_path).get_or_make(KEY, never) == (entry, True)
    assert DiskCache(tmp_path).get("b" * 64) is None


@pytest.mark.parametrize("file", ["lib.so", "sources/k.cc", "manifest.json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, file: str, damage: str) -> None:
    cache = DiskCache(tmp_path)
    entry, _ = cache.get_or_make(KEY, make)
    path = entry / file
    content = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "truncate" else bytes([content[0] ^ 1]) + content[1:])
    assert cache.get(KEY) is None
    _, hit = cache.get_or_make(KEY, make)
    assert not hit and path.is_file()
    assert cache.get(KEY) == entry


def test_a_failing_maker_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        make(folder)
        raise RuntimeError("no")

    cache = DiskCache(tmp_path)
    with pytest.raises(RuntimeError):
        cache.get_or_make(KEY, fail)
    assert cache.get(KEY) is None and not list((tmp_path / "staging").iterdir())
    assert not cache.get_or_make(KEY, make)[1]


def _race(root: Path, log: Path, start: float) -> None:
    def slow(folder: Path) -> None:
        with log.open("a") as file:
            file.write("made\n")
        time.sleep(0.3)
        make(folder)

    time.sleep(max(0.0, start - time.time()))
    entry, _ = DiskCache(root).get_or_make(KEY, slow)
    assert (entry / "lib.so").read_bytes() == b"library" * 100


def test_racing_processes_make_it_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    log = tmp_path / "log"
    racers = [spawn.Process(target=_race, args=(tmp_path / "cache", log, time.time() + 0.2)) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [r.exitcode for r in racers] == [0] * 8
    assert log.read_text() == "made\n"


def _hang(root: Path, started: Path) -> None:
    def hang(folder: Path) -> None:
        (folder / "lib.so").write_bytes(b"half")
        started.touch()
        time.sleep(60)

    DiskCache(root).get_or_make(KEY, hang)


def test_a_killed_maker_holds_nobody_up(tmp_path: Path) -> None:
    started = tmp_path / "started"
    victim = multiprocessing.get_context("fork").Process(target=_hang, args=(tmp_path / "cache", started))
    victim.start()
    while not started.exists():
        time.sleep(0.01)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    cache = DiskCache(tmp_path / "cache")
    assert cache.get(KEY) is None
    entry, hit = cache.get_or_make(KEY, make)
    assert not hit and (entry / "lib.so").read_bytes() == b"library" * 100
    assert not list((tmp_path / "cache" / "staging").iterdir())


def test_what_was_used_longest_ago_is_dropped(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    for age, key in ((300, "1" * 64), (200, "2" * 64), (100, "3" * 64)):
        entry, _ = cache.get_or_make(key, make)
        past = time.time() - age
        os.utime(entry / "manifest.json", (past, past))
    cache.get("1" * 64)  # used just now
    DiskCache(tmp_path, limit=2500).get_or_make("4" * 64, make)  # room for two
    kept = {key[0] for key in ("1" * 64, "2" * 64, "3" * 64, "4" * 64) if cache.get(key)}
    assert kept == {"1", "4"}


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path, mode: int) -> None:
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(mode)
    with pytest.warns(RuntimeWarning, match="others may write it") as caught:
        cache = open_cache(root)
    assert len(caught) == 1 and cache.root != root and cache.root.stat().st_mode & 0o077 == 0
    assert not cache.get_or_make(KEY, make)[1] and not list(root.iterdir())


def test_a_root_that_cannot_be_made_falls_back(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="is not used: .*(Not a directory|exists)"):
        cache = open_cache(tmp_path / "file" / "cache")
    assert not cache.get_or_make(KEY, make)[1]


def test_a_good_root_is_used_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_LIMIT", "2500")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache = open_cache(tmp_path / "new" / "cache")
    assert (cache.root, cache.limit) == (tmp_path / "new" / "cache", 2500)


def test_the_root_is_named_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", "/named")
    assert default_root() == Path("/named")
    monkeypatch.delenv("TILEFOUNDRY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_root() == Path("/xdg/tilefoundry/kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_root() == Path("/home/somebody/.cache/tilefoundry/kernels")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert default_root().name == f"tilefoundry-{os.geteuid()}"
