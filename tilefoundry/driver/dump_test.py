"""What a DumpScope writes, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tilefoundry.diagnostics import CompileError, WrongTypeError, WrongValueError
from tilefoundry.driver import DumpFlags, DumpScope, build, compile, jit, lower
from tilefoundry.driver.scale_program import THRICE, TWICE
from tilefoundry.target import CpuTarget, CudaTarget

PASSES = ["inline-children", "inline-functions", "place", "lower-to-tir"]
PASSES += ["pipeline-loads", "insert-barriers", "plan-memory", "assign-target"]
FORMS = ["000_input.py", *(f"{n:03}_{name}" for n, name in enumerate(PASSES, 1))]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path / "cache"))
    jit.cache_clear()


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def stems(folder: Path) -> list[str]:
    return [name if name == "000_input.py" else name.rpartition(".")[0] for name in files(folder)]


def test_lower_writes_every_form(tmp_path: Path) -> None:
    with DumpScope(tmp_path / "made" / "here") as scope:
        lower(TWICE, "cpu")
    (folder,) = scope.folders
    assert folder == tmp_path / "made" / "here" / "001_lower_Scale"
    assert stems(folder) == [*FORMS, "build"]
    assert "class Scale" in (folder / "000_input.py").read_text() == (folder / "001_inline-children.py").read_text()
    planned = next(folder.glob("007_*")).read_text()
    assert "PrimFunction" in planned or "prim_func" in planned
    log = (folder / "build.log").read_text().splitlines()
    assert [line.split("'")[1] for line in log] == PASSES and all(line.endswith(" s") for line in log)


def test_jit_writes_sources_and_what_compilers_were_told(tmp_path: Path) -> None:
    with DumpScope(tmp_path / "dump") as scope:
        compiled = jit(TWICE, target="cpu")
    (folder,) = scope.folders
    assert folder.name == "001_jit_Scale"
    assert files(folder)[-3:] == ["009_scale.cc", "010_host_entry.cc", "build.log"]
    assert (folder / "009_scale.cc").read_text() == compiled.sources["scale.cc"]
    log = (folder / "build.log").read_text()
    for what in (
        "host source 'host_entry.cc': status 0, ",
        "kernel 'scale' for x86-64-v3: status 0, ",
        "library 'scale.so': status 0",
    ):
        assert what in log
    assert log.count("\n$ env -i ") == 3 and "-march=x86-64-v3" in log and log.count("pass '") == len(PASSES)
    assert torch.equal(compiled(torch.ones(3, 64)), torch.full((3, 64), 2.0))  # type: ignore[arg-type]


def test_a_logged_command_can_be_run_again(tmp_path: Path) -> None:
    with DumpScope(tmp_path / "dump") as scope:
        compile(TWICE, "cpu")
    (folder,) = scope.folders
    log = (folder / "build.log").read_text().splitlines()
    after = next(n for n, line in enumerate(log) if line.startswith("kernel 'scale'")) + 1
    (work := tmp_path / "work").mkdir()
    (work / "scale.cc").write_bytes((folder / "009_scale.cc").read_bytes())
    command = log[after].removeprefix("$ ").replace("TMPDIR=", "IGNORED=")
    subprocess.run(command, shell=True, check=True, cwd=work)
    assert (work / "scale.o").is_file()


def test_what_the_process_has_is_shown_once(tmp_path: Path) -> None:
    compiled = jit(TWICE, target="cpu")
    for repeat in (1, 2):
        with DumpScope(tmp_path / f"dump{repeat}") as scope:
            for _ in range(3):
                assert jit(TWICE, target="cpu") is compiled
        (folder,) = scope.folders
        assert files(folder) == ["000_input.py", "001_scale.cc", "002_host_entry.cc", "build.log"]
        log = (folder / "build.log").read_text()
        assert log.startswith("found in the cache of this process, under the key ")
        assert compiled.linked is not None and compiled.linked.key in log and "no compiler ran" in log


def test_what_was_compiled_in_the_scope_is_not_shown_again(tmp_path: Path) -> None:
    with DumpScope(tmp_path) as scope:
        assert jit(TWICE, target="cpu") is jit(TWICE, target="cpu")
        assert len(scope.folders) == 1


def test_what_the_disk_has_is_shown(tmp_path: Path) -> None:
    jit(TWICE, target="cpu")
    jit.cache_clear()
    with DumpScope(tmp_path / "dump") as scope:
        jit(TWICE, target="cpu")
    (folder,) = scope.folders
    assert files(folder) == ["000_input.py", "001_scale.cc", "002_host_entry.cc", "build.log"]
    assert (folder / "build.log").read_text().startswith(f"found in the disk cache, {tmp_path / 'cache'}")


@pytest.mark.parametrize(
    ("flags", "ends"),
    [
        (DumpFlags.IR, {".py", ".txt"}),
        (DumpFlags.SOURCES, {".cc"}),
        (DumpFlags.LOGS, {".log"}),
        (DumpFlags.IR | DumpFlags.LOGS, {".py", ".txt", ".log"}),
        (DumpFlags(0), set()),
    ],
)
def test_flags_choose(flags: DumpFlags, ends: set[str], tmp_path: Path) -> None:
    with DumpScope(tmp_path / "dump", flags) as scope:
        compile(TWICE, "cpu")
    (folder,) = scope.folders
    found = {p.suffix for p in folder.iterdir()}
    assert found <= ends and (found or not ends) and (DumpFlags.IR in flags or not found & {".py", ".txt"})


def test_build_takes_what_lower_made(tmp_path: Path) -> None:
    with DumpScope(tmp_path) as scope:
        build(lower(TWICE, "cpu"), "cpu")
    assert [f.name for f in scope.folders] == ["001_lower_Scale", "002_build_Scale"]
    assert files(scope.folders[1])[1:] == ["001_scale.cc", "002_host_entry.cc", "build.log"]


def test_nothing_is_written_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = DumpScope(tmp_path / "dump")
    assert not (tmp_path / "dump").exists()
    with scope:
        pass
    monkeypatch.chdir(tmp_path)
    lower(TWICE, "cpu")
    assert files(tmp_path) == ["dump"] and files(tmp_path / "dump") == [] and scope.folders == ()


def test_other_threads_are_left_alone(tmp_path: Path) -> None:
    with DumpScope(tmp_path) as scope:
        thread = threading.Thread(target=lower, args=(TWICE, "cpu"))
        thread.start()
        thread.join()
    assert scope.folders == ()


def test_the_inner_scope_holds(tmp_path: Path) -> None:
    with DumpScope(tmp_path / "outer") as outer:
        with DumpScope(tmp_path / "inner") as inner:
            lower(TWICE, "cpu")
        lower(THRICE, "cpu")
    assert len(inner.folders) == len(outer.folders) == 1


def test_a_second_scope_numbers_on(tmp_path: Path) -> None:
    for _ in range(2):
        with DumpScope(tmp_path):
            lower(TWICE, "cpu")
    assert files(tmp_path) == ["001_lower_Scale", "002_lower_Scale"]


def test_a_scope_can_be_opened_again(tmp_path: Path) -> None:
    scope = DumpScope(tmp_path)
    for _ in range(2):
        with scope, scope:
            lower(TWICE, "cpu")
    lower(TWICE, "cpu")
    assert len(scope.folders) == 2


def test_a_failure_leaves_what_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CudaTarget, "shared_bytes_per_cta", -1)
    with DumpScope(tmp_path / "passes") as scope, pytest.raises(CompileError, match="shared memory"):
        lower(TWICE)
    (folder,) = scope.folders
    assert stems(folder) == [*FORMS[:7], "build"]
    log = (folder / "build.log").read_text()
    assert "pass 'plan-memory' failed: CompileError: the tiles of 'scale' take" in log and "lower failed" in log


def test_a_failing_compiler_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilefoundry.driver.flags._SHARED_OBJECT", ["-std=c++17", "-fno-such-flag"])
    with DumpScope(tmp_path / "dump") as scope, pytest.raises(CompileError, match="fno-such-flag"):
        jit(TWICE, target="cpu")
    (folder,) = scope.folders
    assert "009_scale.cc" in files(folder)
    log = (folder / "build.log").read_text()
    assert "status 1, " in log and log.count("fno-such-flag") > 1 and "jit failed: CompileError: " in log


@pytest.mark.parametrize("where", ["a file", "below a file", "read-only"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_compiled(where: str, tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    (closed := tmp_path / "closed").mkdir(mode=0o500)
    if where == "read-only" and os.access(closed, os.W_OK):
        pytest.skip("root may write anywhere")
    folder = {"a file": file, "below a file": file / "dump", "read-only": closed / "dump"}[where]
    with pytest.raises(WrongValueError, match="DumpScope: dir '.*' cannot be written") as refused, DumpScope(folder):
        pytest.fail("opened")
    assert refused.value.remedy == "name a folder of your own"


def test_a_folder_that_goes_away_is_no_broken_cache(tmp_path: Path) -> None:
    with DumpScope(tmp_path / "dump"):
        (tmp_path / "dump").rmdir()
        with pytest.raises(CompileError, match="DumpScope: '.*' cannot be written"):
            jit(TWICE, target="cpu")
    assert jit(TWICE, target="cpu").build_info.origin == "compiled"  # type: ignore[union-attr]


def test_arguments_are_checked(tmp_path: Path) -> None:
    with pytest.raises(WrongTypeError, match="dir must be a path, got 3"):
        DumpScope(3)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="flags must be DumpFlags, got 'ir'"):
        DumpScope(tmp_path, "ir")  # type: ignore[arg-type]


def test_names_make_no_folders_of_their_own(tmp_path: Path) -> None:
    with DumpScope(tmp_path) as scope:
        lower(replace(TWICE, name="../x y/z"), CpuTarget())
    (folder,) = scope.folders
    assert folder == tmp_path / "001_lower_.._x_y_z"


def test_it_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from tilefoundry.driver import DumpScope; from tilefoundry.driver.scale_program import TWICE\n"
        f"DumpScope({str(tmp_path)!r}).__enter__(); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": os.pathsep.join(sys.path)})
