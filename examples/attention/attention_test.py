"""The example as users run it: the real sentence, synthetic sizes, and options that make no sense."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

from examples.attention.main import app
from examples.attention.model import first_layer, model_directory, tokenize
from examples.attention.program import attention_module

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def _wide_terminal_and_private_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kernels"))


def run(*options: str) -> Result:
    return RUNNER.invoke(app, list(options))


def test_the_default_run_is_a_real_sentence() -> None:
    result = run("--target", "cpu")
    assert result.exit_code == 0, result.output
    assert "shapes   q, k, v, out: (12, 15, 32) f32" in result.output
    assert result.output.count("PASS") == 2
    assert re.search(r"kernel   (compiled|disk cache) in \d+\.\d+ s", result.output)
    for line in ("against torch in f64", "against the evaluator, 12 of 12 heads", "ours", "torch"):
        assert line in result.output
    assert "animal" in result.output.split("Where attention goes")[1]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_synthetic_sizes(dtype: str) -> None:
    options = ("--seq", "70", "--heads", "3", "--dim", "64", "--batch", "2", "--causal", "--dtype", dtype)
    result = run("--target", "cpu", *options)
    assert result.exit_code == 0, result.output
    assert f"(6, 70, 64) {dtype}, causal" in result.output
    assert result.output.count("PASS") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dim", "48"), "--dim: expected one of 32, 64, 128, got 48"),
        (("--seq", "0"), "--seq: expected at least 1, got 0"),
        (("--heads", "-2"), "--heads: expected at least 1"),
        (("--seq", "many"), "a valid integer"),
        (("--dtype", "f64"), "--dtype: expected one of f32, f16, bf16, got 'f64'"),
        (("--target", "tpu"), "--target: expected auto, cpu or cuda, got 'tpu'"),
        (("--text", "  "), "--text: the text is empty"),
        (("--text", "word " * 600), "--text: the text has 602 tokens; the model takes at most 512"),
        (("--text", "a", "--seq", "4"), "give a sentence or sizes, not both"),
        (("--color", "red"), "No such option"),
    ],
)
def test_options_that_make_no_sense_exit_with_2(options: tuple[str, ...], message: str) -> None:
    result = run("--target", "cpu", *options) if "--target" not in options else run(*options)
    assert result.exit_code == 2
    assert message in re.sub(r"[\s│]+", " ", result.output)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_cuda_without_a_gpu_exits_with_2() -> None:
    result = run("--target", "cuda")
    assert result.exit_code == 2
    assert "use --target cpu" in result.output


def test_the_embedding_agrees_with_the_checkpoint() -> None:
    """Heads recombine to one linear projection of the normalised embedding."""
    layer = first_layer("hello world", torch.device("cpu"))
    assert layer.tokens == ("[CLS]", "hello", "world", "[SEP]")
    assert layer.q.shape == layer.k.shape == layer.v.shape == (12, 4, 32)
    ids, _ = tokenize("hello world", model_directory())
    assert ids == [101, 7592, 2088, 102]


@pytest.mark.parametrize("arguments", [{"head_dim": 48}, {"head_dim": 64, "dtype": "f64"}, {"head_dim": 64, "ctas": 0}])
def test_the_factory_refuses_what_it_has_no_program_for(arguments: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        attention_module(**arguments)


def test_the_script_itself_runs() -> None:
    main = Path(sys.modules[app.registered_commands[0].callback.__module__].__file__ or "")
    result = subprocess.run([sys.executable, main, "--help"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "--causal" in result.stdout
