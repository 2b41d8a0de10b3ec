"""The long runs of the fuzz test exist, run as long as they should, and run where `--config=nightly` asks for them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def declared(build_file: Path) -> dict[str, dict[str, object]]:
    """The tests that a BUILD file declares, by name. Starlark is Python here: the file is run with rules that record.

    A file that uses rules other than these is refused by Python.
    """
    tests: dict[str, dict[str, object]] = {}

    def pytest_test(name: str, **attributes: object) -> None:
        tests[name] = attributes

    def ignored(*_: object, **__: object) -> None: ...

    scope = {"exports_files": ignored, "load": ignored, "py_library": ignored, "pytest_test": pytest_test}
    exec(compile(build_file.read_text(encoding="utf-8"), str(build_file), "exec"), scope)
    return tests


def settings(bazelrc: Path, command: str) -> list[str]:
    """The options that a .bazelrc sets for a command, or a command of a configuration."""
    lines = [line.split() for line in bazelrc.read_text(encoding="utf-8").splitlines()]
    return [word for words in lines if words[:1] == [command] for word in words[1:]]


def test_the_front_end_is_fuzzed_for_five_minutes_every_night() -> None:
    tests = declared(ROOT / "tilefoundry/python/fuzz/BUILD.bazel")
    nightly = [t for t in tests.values() if "nightly" in t.get("tags", ())]  # type: ignore[operator]
    assert len(nightly) == 1, f"one of {sorted(tests)} is the nightly one"
    (test,) = nightly
    assert test["srcs"] == ["fuzz_test.py"] and test["env"] == {"TILEFOUNDRY_FUZZ_SECONDS": "300"}
    assert test["timeout"] in ("long", "eternal"), "a moderate one ends after 300 s, the build of it included"


def test_the_front_end_is_fuzzed_in_every_run() -> None:
    tests = declared(ROOT / "tilefoundry/python/fuzz/BUILD.bazel")
    always = [t for t in tests.values() if not t.get("tags")]
    assert [(t["srcs"], t["env"]) for t in always] == [(["fuzz_test.py"], {"TILEFOUNDRY_FUZZ_SECONDS": "20"})]


def test_nightly_tests_run_in_their_configuration_alone() -> None:
    bazelrc = ROOT / ".bazelrc"
    assert "--test_tag_filters=nightly" in settings(bazelrc, "test:nightly")
    assert any("-nightly" in word for word in settings(bazelrc, "test") if word.startswith("--test_tag_filters="))
