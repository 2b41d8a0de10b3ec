"""The architecture on random weights: prepared, loaded, against its twin and transformers, and generating text."""

# mypy: ignore-errors
# (attributes of a Module are found at run time)

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from examples.chat.config import Config
from examples.chat.main import app
from examples.chat.model import all_logits
from examples.chat.peer import peer, peer_logits
from examples.chat.program import aliases, gemma, rotary
from examples.chat.tiny import TINY, checkpoint
from examples.chat.twin import torch_gemma
from tilefoundry.runtime import Cosine, DictResource, MaxAbs, SafetensorsResource, Sampling, check, generate

IDS = [2, 17, 96, 0, 41, 41, 5, 63, 8, 90, 33, 12]  # three windows of the local layer
CPU = torch.device("cpu")


def ready(config: Config, directory: Path) -> list[object]:
    """The model on the evaluator, and its twin, with the weights of a directory that is prepared for them."""
    model = gemma(config)
    model.prepare(DictResource(checkpoint(config), alias=aliases(config)), directory)
    with SafetensorsResource(directory, device="cpu") as weights:
        loaded, twin = model.load(weights), torch_gemma(config, model)()
        twin.load(weights)
    return [loaded, twin]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    return ready(TINY, tmp_path_factory.mktemp("chat") / "prepared")


@pytest.mark.parametrize("which", [0, 1], ids=["evaluator", "twin"])
def test_logits_agree_with_transformers(models: list[object], which: int) -> None:
    want = peer_logits(peer(TINY, checkpoint(TINY)), IDS)
    assert float(want.std()) > 0.5
    torch.testing.assert_close(all_logits(models[which], IDS), want, atol=1e-5, rtol=1e-5)


def test_a_local_layer_sees_its_window_alone(tmp_path: Path) -> None:
    config = dataclasses.replace(TINY, layers=1, window=3)
    want = peer_logits(peer(config, checkpoint(config)), IDS)
    for model in ready(config, tmp_path / "prepared"):
        got, other = all_logits(model, IDS), all_logits(model, [60, *IDS[1:]])
        torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)
        assert torch.equal(got[3:], other[3:])
        assert not torch.equal(got[2], other[2])


def test_one_step_agrees_output_by_output(models: list[object]) -> None:
    loaded, twin = models
    caches = loaded.init_caches(6, device=CPU)
    for step in range(5):
        inputs = loaded.prepare_inputs_for_generation(torch.tensor(IDS[: step + 1]), step, caches, device=CPU)
        paths = [f"output[{i}]" for i in range(1 + 2 * TINY.layers)]
        report = check(twin, loaded, inputs, expect={path: [MaxAbs(1e-5), Cosine(1 - 1e-9)] for path in paths})
        assert report.passed, report
        caches = loaded.append_cache(caches, loaded(*inputs)[1:], step)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.0, top_k=20, top_p=0.9, seed=3)])
def test_both_generate_the_same_text(models: list[object], sampling: Sampling) -> None:
    texts = [list(generate(model, IDS[:3], max_new_tokens=20, sampling=sampling)) for model in models]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1 or sampling.temperature == 0


def test_greedy_text_is_that_of_transformers(models: list[object]) -> None:
    other = peer(TINY, checkpoint(TINY))
    ids = list(IDS)
    for _ in range(8):
        ids.append(int(peer_logits(other, ids)[-1].argmax()))
    assert list(generate(models[0], IDS, max_new_tokens=8)) == ids[len(IDS) :]


def test_a_step_writes_at_its_own_position_alone(models: list[object]) -> None:
    for model in models:
        caches = model.init_caches(4, device=CPU)
        inputs = model.prepare_inputs_for_generation(torch.tensor(IDS[:3]), 2, caches, device=CPU)
        _, keys, *_ = model(*inputs)
        assert keys.shape == (1, 4, TINY.key_heads, TINY.head_dim)
        assert keys[0, 2].abs().min() > 0
        assert float(keys[0, [0, 1, 3]].abs().sum()) == 0.0
        assert all(float(c.abs().sum()) == 0.0 for c in caches[4:])


def test_rotary_tables_hold_the_angles() -> None:
    cos, sin = rotary(TINY, 10_000.0, 5, CPU)
    angles = torch.outer(torch.arange(5.0).double(), 10_000.0 ** -(torch.arange(4).double() / 4))
    torch.testing.assert_close(cos.double(), torch.cat([angles, angles], -1).cos(), atol=1e-6, rtol=0)
    torch.testing.assert_close(sin.double(), torch.cat([angles, angles], -1).sin(), atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("",), "the prompt is empty"),
        (("--temperature", "-1"), "temperature: expected a finite number of at least 0"),
        (("--top-p", "1.5"), "top_p"),
        (("--top-k", "0"), "top_k: expected at least 1"),
        (("--backend", "abacus"), "'abacus' is not one of"),
        (("--max-new-tokens", "0"), "greater than or equal to 1"),
        (("--max-new-tokens", "few"), "unable to parse string as an integer"),
    ],
)
def test_options_that_make_no_sense_exit_with_2(arguments: tuple[str, ...], words: str) -> None:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output
    assert words in re.sub(r"[\s│]+", " ", result.output)
