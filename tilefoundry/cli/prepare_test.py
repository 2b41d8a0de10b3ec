"""`tilefoundry prepare` writes what `Module.load` reads."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tilefoundry.cli.testing import HERE, Block, refusal, run
from tilefoundry.runtime import SafetensorsResource


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, torch.Tensor]:
    """A checkpoint with names of its own, in the folder `raw` of the current one."""
    tensors = {"h.weight": torch.randn(3, 4), "norm": torch.rand(4)}
    (tmp_path / "raw").mkdir()
    save_file(tensors, tmp_path / "raw" / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    return tensors


def prepared() -> list[torch.Tensor]:
    with SafetensorsResource("out", device="cpu") as resource:
        loaded = Block.load(resource)
        return [t.clone() for t in (loaded.up.constants["w"], loaded.constants["scale"])]


def test_what_was_prepared_is_loaded(raw: dict[str, torch.Tensor]) -> None:
    told = run("prepare", f"{HERE}:Block", "raw", "out", "--alias", f"{HERE}:names")
    size = (Path("out") / "model-00001-of-00001.safetensors").stat().st_size
    assert told == f"wrote {size} bytes to out\n"
    assert all(map(torch.equal, prepared(), raw.values()))
    # its names are the declared ones
    run("prepare", f"{HERE}:Block", "out", "again")
    assert (Path("again") / "model.safetensors.index.json").read_bytes() == (
        Path("out") / "model.safetensors.index.json"
    ).read_bytes()


def test_a_folder_with_content_is_replaced_only_on_request(
    raw: dict[str, torch.Tensor], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    (Path("out") / "mine").touch()
    command = ("prepare", f"{HERE}:PlainTwin", "raw", "out", "--alias", f"{HERE}:flat")
    told, _ = refusal(monkeypatch, capsys, *command)
    assert told.endswith("out exists and is not empty") and os.listdir("out") == ["mine"]
    run(*command, "--overwrite")
    assert "mine" not in os.listdir("out")


def test_what_cannot_be_prepared_is_named_and_nothing_is_left(
    raw: dict[str, torch.Tensor], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told, _ = refusal(monkeypatch, capsys, "prepare", f"{HERE}:Block", "raw", "out", "--alias", f"{HERE}:Block")
    assert told == f"--alias: expected a mapping of names, got '{HERE}:Block' of type Module"
    monkeypatch.setattr(sys, "argv", ["tilefoundry", "prepare", f"{HERE}:Block", "raw", "out"])
    _ended_with("no tensor 'w' (raw key 'up.w')", capsys)
    monkeypatch.setattr(sys, "argv", ["tilefoundry", "prepare", f"{HERE}:Block", "nothing", "out"])
    _ended_with("nothing", capsys)
    assert os.listdir() == ["raw"]


def _ended_with(told: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tilefoundry.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 2 and told in error and "Traceback" not in error


def test_a_terminal_sees_how_far_it_is(raw: dict[str, torch.Tensor]) -> None:
    master, slave = pty.openpty()
    command = ["prepare", f"{HERE}:Block", "raw", "out", "--alias", f"{HERE}:names"]
    done = subprocess.run(
        [sys.executable, "-m", "tilefoundry.cli", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        stdout=subprocess.PIPE,
        stderr=slave,
        check=False,
    )
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 0, shown
    assert "prepare: 2/2 tensors" in shown
