"""The encoder against transformers' own BertModel on the same weights, its twin, and the command as users run it."""

# mypy: ignore-errors
# (transformers' models are untyped)

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from transformers import BertModel
from typer.testing import CliRunner, Result

from examples.attention.model import model_directory
from examples.embed import main as command
from examples.embed import model as encoder
from examples.embed.model import compare, embed, load, prepare, token_ids
from examples.embed.program import Encoder
from tilefoundry.runtime import SafetensorsResource

RUNNER = CliRunner()
SENTENCES = (
    "Hello",
    "The animal did not cross the street because it was too tired.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; 你好, 世界! 🦊",
    "one two three " * 170,  # 512 tokens, the most there are
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("embed") / "prepared"
    prepare(directory)
    return directory


@pytest.fixture(scope="module")
def models(prepared: Path) -> tuple[object, object]:
    return load(prepared)


@pytest.fixture(scope="module")
def bert() -> BertModel:
    return BertModel.from_pretrained(model_directory(), dtype=torch.float32, attn_implementation="eager").eval()


def run(*arguments: str) -> Result:
    return RUNNER.invoke(command.app, list(arguments))


@pytest.mark.parametrize("sentence", SENTENCES, ids=["word", "sentence", "scripts", "longest"])
@pytest.mark.parametrize("which", ["evaluator", "twin"])
def test_it_agrees_with_transformers(models: tuple[object, object], bert: BertModel, sentence: str, which: str) -> None:
    model, ids = models[which == "twin"], token_ids(sentence)
    with torch.no_grad():
        hidden = bert(ids[None]).last_hidden_state[0]
    want = functional.normalize(hidden.mean(0), dim=0)
    torch.testing.assert_close(model.hidden(ids), hidden, atol=1e-5, rtol=0)
    got = embed(model, [sentence])[0]
    torch.testing.assert_close(got, want, atol=1e-5, rtol=0)
    assert abs(float(functional.cosine_similarity(got.double(), want.double(), dim=0)) - 1) < 1e-6


def test_the_twin_agrees_with_the_evaluator(models: tuple[object, object]) -> None:
    for sentence in SENTENCES:
        report = compare(*models, sentence)
        assert report.passed, report


def test_what_is_prepared_is_what_is_declared(prepared: Path) -> None:
    keys = json.loads((prepared / "model.safetensors.index.json").read_text())["weight_map"]
    layers = [f"layer{i}.{part}" for i in range(6) for part in ("attention", "feed_forward")]
    assert {key.rpartition(".")[0] for key in keys} == {"embeddings", *layers}
    assert len(keys) == 5 + 12 * 6
    with (
        SafetensorsResource(prepared, device="cpu") as ours,
        SafetensorsResource(model_directory(), device="cpu") as raw,
    ):
        stored = [raw.load(f"encoder.layer.3.attention.self.{name}.weight") for name in ("query", "key", "value")]
        assert torch.equal(ours.load("layer3.attention.qkv"), torch.stack([w.T for w in stored]))


def test_the_checkpoint_in_its_raw_form_is_refused_with_all_that_differs() -> None:
    with SafetensorsResource(model_directory(), device="cpu") as raw, pytest.raises(KeyError) as caught:
        Encoder.load(raw)
    for name in ("embeddings.words", "layer0.attention.qkv", "layer5.feed_forward.down_bias"):
        assert f"'{name}'" in str(caught.value)


def test_the_search_of_the_page() -> None:
    result = run()
    assert result.exit_code == 0, result.output
    assert "PASS" in result.output
    scores = [float(s) for s in re.findall(r"^ +(-?\d\.\d{3})  ", result.output, re.MULTILINE)]
    assert scores == sorted(scores, reverse=True)
    ranking = re.findall(r"^ +-?\d\.\d{3}  (.*)$", result.output, re.MULTILINE)
    assert set(ranking) == set(command.SENTENCES)
    assert {command.SENTENCES.index(s) for s in ranking[:3]} == {0, 2, 4}  # those on bread
    assert scores[2] - scores[3] > 0.2


def test_own_sentences_and_weights_that_are_kept(tmp_path: Path) -> None:
    arguments = ("--prepared", str(tmp_path / "kept"), "Wo ist der Bahnhof?", "the station", "a [red] apple")
    first, second = run(*arguments), run(*arguments)
    assert first.exit_code == second.exit_code == 0, first.output + second.output
    assert "prepared  90 MB" in first.output
    assert "prepared" not in second.output
    assert "a [red] apple" in second.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("only a question",), "give a question and at least one sentence"),
        (("", "a sentence"), "the text is empty"),
        (("a", "word " * 600), "the text has 602 tokens; the model takes at most 512"),
        (("--colour", "red"), "No such option"),
    ],
)
def test_arguments_that_make_no_sense_exit_with_2(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in re.sub(r"[\s│]+", " ", result.output)


def test_a_twin_that_disagrees_exits_with_1(monkeypatch: pytest.MonkeyPatch, prepared: Path) -> None:
    def skewed(directory: Path) -> tuple[object, object]:
        loaded, twin = load(directory)
        return loaded, lambda ids: twin(ids) * 1.001

    monkeypatch.setattr(command, "load", skewed)
    result = run("--prepared", str(prepared))
    assert result.exit_code == 1
    assert "FAIL" in result.output


def test_the_script_itself_runs() -> None:
    path = Path(encoder.__file__).with_name("main.py")
    result = subprocess.run([sys.executable, path, "--help"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "--prepared" in result.stdout
