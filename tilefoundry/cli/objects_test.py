"""What a command line may name as its OBJECT, and how it is told that it named something else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tilefoundry.cli import testing
from tilefoundry.cli.objects import find, module_of
from tilefoundry.cli.testing import HERE, refusal

PROGRAMS = "it has the programs: Projection, Block, Bag, twice, store, Twin, PlainTwin, twin"
Monkey, Captured = pytest.MonkeyPatch, pytest.CaptureFixture[str]


@pytest.mark.parametrize("spelling", ["", "a", "a:", ":b", "a:b:c", "a.:b", ".a:b", "a:b..c", "a b:c", "a/b.py:c"])
def test_other_spellings_are_refused(spelling: str, monkeypatch: Monkey, capsys: Captured) -> None:
    told, remedy = refusal(monkeypatch, capsys, "show", spelling)
    assert told == f"expected an object as package.module:attribute, got '{spelling}'"
    assert remedy.startswith("write e.g.")


@pytest.mark.parametrize(
    ("spelling", "told", "remedy"),
    [
        ("nowhere.at_all:Model", "there is no module 'nowhere'", "PYTHONPATH"),
        ("tilefoundry.nowhere:Model", "there is no module 'tilefoundry.nowhere'", "PYTHONPATH"),
        (f"{HERE}:Blok", f"module '{HERE}' has no attribute 'Blok'", PROGRAMS),
        (f"{HERE}:Block.down", "Module 'Block' has no attribute 'down'", "it has the children: up"),
        (f"{HERE}:names.x", "of type dict has no attribute 'x'", "it has the programs: none"),
        (f"{HERE}:names", "is of type dict, not a Module, a function or a twin", "@module"),
        (f"{HERE}:run", "is function 'run', not a Module", "@module"),
        (f"{HERE}:CpuTarget", "'CpuTarget', not a Module", "@module"),
    ],
)
@pytest.mark.parametrize("command", [("show",), ("script",), ("prepare", "here", "there")])
def test_what_is_not_there_or_no_module_is_refused(
    command: tuple[str, ...], spelling: str, told: str, remedy: str, monkeypatch: Monkey, capsys: Captured
) -> None:
    first, second = refusal(monkeypatch, capsys, command[0], spelling, *command[1:])
    assert f"'{spelling}'" in first and told in first and remedy in second


@pytest.mark.parametrize("command", [("show",), ("script",), ("prepare", "here", "there")])
@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ("compiled", "runtime module 'kernel' (CompiledModule)"),
        ("handwritten", "runtime module 'loose' (Handwritten)"),
        ("Handwritten", "runtime module class 'Handwritten'"),
    ],
)
def test_statement_76_the_command_line_refuses_what_has_no_module(
    command: tuple[str, ...], attribute: str, name: str, tmp_path: Path, monkeypatch: Monkey, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = refusal(monkeypatch, capsys, command[0], f"{HERE}:{attribute}", *command[1:])
    assert first == f"{command[0]}: {name} stands for no single Module"
    assert second.endswith("the Module itself") and not any(tmp_path.iterdir())


def test_what_stands_for_a_module_is_taken_for_it() -> None:
    reading = testing.loaded(torch.ones(3, 4))
    for found in (testing.Projection, testing.Twin, testing.PlainTwin, testing.twin, reading):
        assert module_of(found, "", "test") is testing.Projection
    other = testing.Projection.renamed("other")
    assert module_of(testing.PlainTwin(ir=other), "", "test") is other
    assert find(f"{HERE}:Block.up") is testing.Block.up
    for function in (testing.twice, testing.store):
        assert module_of(function, "", "test").entry_function() is function


def test_a_module_that_imports_what_is_not_there(tmp_path: Path, monkeypatch: Monkey, capsys: Captured) -> None:
    (tmp_path / "needy.py").write_text("import nowhere\n")
    (tmp_path / "choosy.py").write_text("from json import nothing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    told, _ = refusal(monkeypatch, capsys, "show", "needy:Model")
    assert told == "'needy:Model': module 'needy' cannot be imported: No module named 'nowhere'"
    told, _ = refusal(monkeypatch, capsys, "show", "choosy:Model")
    assert told.startswith("'choosy:Model': module 'choosy' cannot be imported: cannot import name 'nothing'")


_ALONE = """
import sys
from tilefoundry.cli.main import main
try:
    main()
except SystemExit as ended:
    loaded = {"torch", "numpy", "tvm_ffi"} & set(sys.modules)
    assert not ended.code and not loaded, loaded
"""
_PROGRAM = """
import tilefoundry as tf
from tilefoundry.dsl import Tensor

@tf.module(entry="twice")
class Twice:
    @tf.func
    def twice(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return x + x
"""


@pytest.mark.parametrize("variable", ["PWD", "BUILD_WORKING_DIRECTORY"])
def test_programs_of_the_current_folder_are_found_and_torch_is_not_loaded(variable: str, tmp_path: Path) -> None:
    """`bazel run` says where the user is in a variable of its own."""
    (tmp_path / "program.py").write_text(_PROGRAM)
    paths = os.pathsep.join(p for p in sys.path if p)
    start = tmp_path if variable == "PWD" else tmp_path.parent
    for args in (["--help"], ["show", "program:Twice"], ["script", "program:Twice"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", _ALONE, *args],
            cwd=start,
            env={**os.environ, "PYTHONPATH": paths, variable: str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Twice" in done.stdout or args == ["--help"]
