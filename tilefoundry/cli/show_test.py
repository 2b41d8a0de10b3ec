"""What `tilefoundry show` says of a Module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tilefoundry.cli.testing import HERE, refusal, run

BLOCK = """\
module      Block
entry       gate
functions   gate
methods     forward
topologies  cta N, thread 4
target      cpu isa=x86-64-v2

parameter  role    type
y          input   Tensor[(2,4), f32, gmem]
scale      weight  Tensor[(4,), f32, gmem]
           result  Tensor[(2,4), f32, gmem]

weight  type
scale   Tensor[(4,), f32, gmem]
up.w    Tensor[(3,4), f32, gmem]

child  entry    functions
up     project  project
"""


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_a_module() -> None:
    assert lines(run("show", f"{HERE}:Block")) == BLOCK.splitlines()


def test_a_twin_is_shown_as_its_module() -> None:
    shown = run("show", f"{HERE}:Projection")
    assert lines(shown)[0].split() == ["module", "Projection"]
    for twin in ("Twin", "PlainTwin", "twin"):
        assert run("show", f"{HERE}:{twin}") == shown


def test_a_child_has_the_target_and_the_topologies_of_its_owner() -> None:
    shown = lines(run("show", f"{HERE}:Block.up"))
    assert shown[0].split() == ["module", "up"]
    assert shown[3:5] == ["topologies  cta N, thread 4", "target      cpu isa=x86-64-v2"]


def test_a_kernel_has_outputs_and_no_result() -> None:
    rows = lines(run("show", f"{HERE}:store"))
    assert rows[-2:] == ["x          input   Tensor[(4,), f32, gmem]", "out        output  Tensor[(4,), f32, gmem]"]


def test_without_entry() -> None:
    assert "entry       none" in lines(run("show", f"{HERE}:Bag"))


def test_json() -> None:
    shown = json.loads(run("show", f"{HERE}:Block", "--json"))
    assert shown["name"] == "Block" and shown["target"] == "cpu isa=x86-64-v2"
    assert shown["topologies"] == [{"name": "cta", "size": "N"}, {"name": "thread", "size": 4}]
    assert shown["entry"] == {
        "name": "gate",
        "parameters": [
            {"name": "y", "type": "Tensor[(2,4), f32, gmem]", "role": "input"},
            {"name": "scale", "type": "Tensor[(4,), f32, gmem]", "role": "weight"},
        ],
        "result": "Tensor[(2,4), f32, gmem]",
    }
    (child,) = shown["children"]
    assert child["weights"] == [{"name": "w", "type": "Tensor[(3,4), f32, gmem]", "shape": [3, 4], "dtype": "f32"}]
    twice = json.loads(run("show", f"{HERE}:twice", "--json"))
    assert twice["entry"]["parameters"][0]["type"] == "Tensor[(N,3), f32, gmem]"
    assert twice["target"] is None and twice["weights"] == twice["children"] == []


def test_a_narrow_terminal_folds_and_cuts_nothing_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilefoundry.cli.show._UNFOLDED", 30)
    folded = run("show", f"{HERE}:Block")
    assert max(map(len, folded.splitlines())) <= 30 and "…" not in folded
    wide = "".join(BLOCK.split())
    assert sorted("".join(folded.split())) == sorted(wide)


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("Block", "child up"),
        ("Block.up", "module up"),
        ("twice", "return of twice"),
        ("twin", "module Projection"),
        ("store", "T.copy(x, out)"),
        ("LAYOUT", "(2,3):(3,1)"),
    ],
)
def test_pictures_go_into_a_file(attribute: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    said = run("show", f"{HERE}:{attribute}", "--html", str(file))
    assert said == f"wrote {file.stat().st_size} bytes to {file}\n"
    assert words in file.read_text() and "<script" not in file.read_text()


def test_pictures_of_other_things_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    told, _ = refusal(monkeypatch, capsys, "show", f"{HERE}:names", "--html", str(file))
    assert told == f"show: '{HERE}:names' is of type dict, not a Module, a function or a twin" and not file.exists()
