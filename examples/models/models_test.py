"""The models against plain torch, their caches, their text, their weights, and the command as users run it."""

# mypy: ignore-errors
# (attributes of a Module are found at run time)

from __future__ import annotations

import importlib.util
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from examples.models import main as command
from examples.models.bert import BertConfig
from examples.models.compare import RELATIVE_BOUNDS, compare, tokens
from examples.models.llama import LlamaConfig
from examples.models.mla import MlaConfig
from examples.models.moe import MoeConfig
from examples.models.suite import Model, bert_model, llama_model, mla_model, moe_model
from examples.models.weights import random_weights
from tilefoundry import as_script
from tilefoundry.ir import structurally_equal
from tilefoundry.runtime import DictResource

BERT = BertConfig(layers=2, hidden=15, heads=3, wide=21)
LLAMA = LlamaConfig(layers=3, hidden=13, heads=6, key_heads=2, head_dim=6, wide=19)
MOE = MoeConfig(hidden=13, wide=7, experts=5, chosen=2, few=3)
MLA = MlaConfig(hidden=13, heads=3, query_rank=7, rank=5, width=4, rope_width=6, value_width=5)
MODELS = {
    "bert": bert_model("bert", BERT),
    "llama": llama_model("llama", LLAMA),
    "moe": moe_model("moe", MOE),
    "mla": mla_model("mla", MLA),
}
CACHED = ("llama", "mla")
every_model = pytest.mark.parametrize("name", MODELS)


def ready(model: Model, dtype: str, batch: int, length: int):
    """A loaded model, its weights, and tokens."""
    generator = torch.Generator().manual_seed(length)
    module = model.build(dtype)
    weights = random_weights(module, generator)
    return module.load(DictResource(weights)), weights, tokens(model, batch, length, dtype, generator)


@every_model
@pytest.mark.parametrize(("batch", "length"), [(1, 1), (3, 4), (2, 11)])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_agrees_with_plain_torch(name: str, batch: int, length: int, seed: int) -> None:
    errors = compare(MODELS[name], batch, length + (name == "bert"), seed)  # the last of BERT's sequences is padded
    assert errors.passed, errors


@every_model
def test_each_weight_counts(name: str) -> None:
    model = MODELS[name]
    loaded, weights, x = ready(model, "f64", 2, 7)
    exact = model.exact(weights, x)
    generator = torch.Generator().manual_seed(1)
    for weight, value in weights.items():
        other = {**weights, weight: value + 0.3 * torch.randn(value.shape, generator=generator).to(value.dtype)}
        if weight.endswith("key_bias"):  # it moves all scores of a query alike, which a softmax does not see
            torch.testing.assert_close(model.exact(other, x), exact, rtol=0, atol=1e-12)
            continue
        changed = model.run(loaded.module.load(DictResource(other)), x, "f64")
        assert (changed - exact).abs().max() > 1e-5, weight
        assert (changed - model.exact(other, x)).abs().max() < 1e-10, weight


@pytest.mark.parametrize("name", CACHED)
@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16"])
@pytest.mark.parametrize("chunks", [(1,) * 9, (4, 1, 1, 3), (2, 7)], ids=str)
def test_steps_equal_prefill(name: str, dtype: str, chunks: tuple[int, ...]) -> None:
    loaded, _, x = ready(MODELS[name], dtype, 2, sum(chunks))
    at, *empty = MODELS[name].state(x)
    whole, *filled = loaded(x, at, *empty)
    axis = 2 if name == "llama" else 1
    # Longer caches, where the places ahead hold something.
    caches = [torch.full_like(torch.cat((cache, cache), axis), 7.0) for cache in empty]
    parts = []
    for start, end in itertools.pairwise((0, *itertools.accumulate(chunks))):
        y, *caches = loaded(x[:, start:end], torch.tensor(start, dtype=torch.int32), *caches)
        parts.append(y)
    bound = {"f64": 1e-12, **RELATIVE_BOUNDS}[dtype]
    kept = [cache.narrow(axis, 0, x.shape[1]) for cache in caches]
    for ours, want in zip((torch.cat(parts, 1), *kept), (whole, *filled), strict=True):
        assert (ours.double() - want.double()).norm() <= bound * want.double().norm()
    assert all((cache.narrow(axis, x.shape[1], x.shape[1]) == 7.0).all() for cache in caches)


@pytest.mark.parametrize("name", CACHED)
def test_a_token_sees_none_after_it(name: str) -> None:
    loaded, _, x = ready(MODELS[name], "f64", 2, 6)
    other = torch.cat((x[:, :4], -x[:, 4:]), 1)
    ours, changed = (MODELS[name].run(loaded, t) for t in (x, other))
    torch.testing.assert_close(ours[:, :4], changed[:, :4], rtol=0, atol=1e-14)
    assert (ours[:, 4:] - changed[:, 4:]).abs().min(-1).values.max() > 1e-4


def test_padding_does_not_count() -> None:
    loaded, _, x = ready(MODELS["bert"], "f64", 2, 6)
    seen = torch.arange(6) < torch.tensor([[6], [4]])
    alone = loaded(x[1:, :4], seen[1:, :4])
    torch.testing.assert_close(loaded(x, seen)[1:, :4], alone, rtol=0, atol=1e-13)
    assert (loaded(x, torch.ones_like(seen))[1:, :4] - alone).abs().max() > 1e-3


@pytest.mark.parametrize("length", [2, 3, 9])
def test_gathered_experts_equal_dense_ones(length: int) -> None:
    gather, dense = (moe_model("moe", replace(MOE, few=few)) for few in (9, 1))
    loaded, weights, x = ready(gather, "f64", 2, length)
    other = dense.build("f64").load(DictResource(weights))
    torch.testing.assert_close(gather.run(loaded, x), dense.run(other, x), rtol=0, atol=1e-14)


def test_all_experts_of_all_tokens_are_chosen_at_times() -> None:
    _, weights, x = ready(MODELS["moe"], "f32", 4, 11)
    best = (x @ weights["router"]).topk(MOE.chosen).indices
    assert set(best.flatten().tolist()) == set(range(MOE.experts))


@every_model
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_its_script_is_the_same_program(name: str, dtype: str, tmp_path: Path) -> None:
    loaded, weights, x = ready(MODELS[name], dtype, 2, 5)
    (tmp_path / "script.py").write_text(as_script(loaded.module))
    spec = importlib.util.spec_from_file_location("script", tmp_path / "script.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    again = getattr(script, loaded.module.name)
    assert structurally_equal(again, loaded.module)
    other = "bf16" if dtype == "f32" else "f32"
    assert not structurally_equal(again, MODELS[name].build(other))
    read = again.load(DictResource(weights))
    assert torch.equal(MODELS[name].run(read, x), MODELS[name].run(loaded, x))


WEIGHTS = {
    "bert": {
        "": "",
        "layer1": "attention_gain attention_shift feed_gain feed_shift",
        "layer1.attention": "query query_bias key key_bias value value_bias out out_bias",
        "layer1.feed_forward": "up up_bias down down_bias",
    },
    "llama": {
        "": "",
        "layer2": "attention_gain feed_gain",
        "layer2.attention": "query key value out",
        "layer2.feed_forward": "gate up down",
    },
    "moe": {"": "router gate up down"},
    "mla": {
        "": "query_down query_gain query_up latent_down latent_gain rope_key out",
        "heads": "key_up value_up",
    },
}


@every_model
def test_weights_have_these_names(name: str) -> None:
    for path, names in WEIGHTS[name].items():
        module = MODELS[name].build("f32")
        for child in path.split(".") if path else ():
            module = module.child_named(child)
        assert list(module.weights) == names.split(), path


@every_model
def test_a_weight_that_is_missing_is_named(name: str) -> None:
    loaded, weights, _ = ready(MODELS[name], "f32", 1, 1)
    for lost in (min(weights), max(weights)):
        with pytest.raises(KeyError, match=f"'{lost}'"):
            loaded.module.load(DictResource({key: value for key, value in weights.items() if key != lost}))


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "layers", lambda: tuple(MODELS.values()))
    result = CliRunner().invoke(command.app, ["--length", "5"])
    assert result.exit_code == 0, result.output
    assert "on 2 x 5 tokens" in result.output
    assert result.output.count("PASS") == len(MODELS)
    wrong = replace(MODELS["moe"], exact=lambda weights, x: MODELS["moe"].exact(weights, x) + 1e-9)
    monkeypatch.setattr(command, "layers", lambda: (wrong, MODELS["mla"]))
    result = CliRunner().invoke(command.app, [])
    assert (result.exit_code, result.output.count("FAIL"), result.output.count("PASS")) == (1, 1, 1)


@pytest.mark.parametrize("arguments", [("--batch", "0"), ("--length", "513"), ("--seed", "x")])
def test_options_that_make_no_sense_exit_with_2(arguments: tuple[str, str]) -> None:
    assert CliRunner().invoke(command.app, list(arguments)).exit_code == 2
