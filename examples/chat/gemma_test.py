"""The real Gemma 3 270M: against transformers on the same dequantised weights, and the text that comes out.

Takes minutes, 5 GB of memory and 1.4 GB of disk; it runs when it is asked for:

    bazel test --test_tag_filters=large //examples/chat:gemma_test
"""

# mypy: ignore-errors
# (transformers' models are untyped)

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from gguf import GGUFReader
from transformers import AutoTokenizer
from typer.testing import CliRunner

from examples.chat.checkpoint import Dequantized, assemble
from examples.chat.main import app
from examples.chat.model import Chat, all_logits, load, prepare
from examples.chat.peer import peer, peer_logits
from tilefoundry.runtime import Sampling, generate

PROMPT = "The three primary colours are"
TEXTS = (
    PROMPT,
    "def fibonacci(n):\n    if n < 2:\n        return",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; 你好, 世界! 🦊",
)


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return assemble(tmp_path_factory.mktemp("gguf") / "gemma.gguf")


@pytest.fixture(scope="module")
def prepared(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("prepared")
    prepare(gguf, directory)
    return directory


@pytest.fixture(scope="module")
def chat(prepared: Path) -> Chat:
    return load(prepared)


@pytest.fixture(scope="module")
def theirs(gguf: Path, chat: Chat) -> object:
    return peer(chat.config, Dequantized(GGUFReader(gguf)))


@pytest.mark.parametrize("text", TEXTS, ids=["colours", "code", "scripts"])
def test_logits_agree_with_transformers(chat: Chat, theirs: object, text: str) -> None:
    ids = chat.encode(text)
    want = peer_logits(theirs, ids)
    for model in (chat.loaded, chat.twin):
        torch.testing.assert_close(all_logits(model, ids), want, atol=2e-3, rtol=1e-4)
    report = chat.compare(ids)
    assert report.passed, report


def test_the_window_of_512_tokens_agrees_with_transformers(chat: Chat, theirs: object) -> None:
    """On the twin alone: the evaluator agrees with it above, and takes minutes for so long a text."""
    ids = chat.encode("one two three four five six seven eight nine ten " * 60)[:560]
    want, got = peer_logits(theirs, ids), all_logits(chat.twin, ids)
    torch.testing.assert_close(got[500:], want[500:], atol=5e-3, rtol=1e-4)


def test_the_tokenizer_is_that_of_transformers(chat: Chat, gguf: Path) -> None:
    other = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    for text in (*TEXTS, "  two  spaces\n\n\ttab", "1234567890", "<eos> in a text", "naïve café"):
        assert chat.encode(text) == [chat.encode("x")[0], *other.encode(text, add_special_tokens=False)]
        assert chat.tokenizer.decode(chat.encode(text)[1:], skip_special_tokens=False) == text


def test_real_text_comes_out_of_both(chat: Chat) -> None:
    ids = chat.encode(PROMPT)
    texts = [list(generate(m, ids, max_new_tokens=12, stop=chat.stop)) for m in (chat.loaded, chat.twin)]
    assert texts[0] == texts[1]
    assert chat.tokenizer.decode(texts[0]).startswith(" red, yellow and blue.")


def test_a_seed_repeats_a_drawn_text(chat: Chat) -> None:
    def text(seed: int) -> list[int]:
        drawn = Sampling(temperature=0.9, top_k=50, top_p=0.95, seed=seed)
        return list(generate(chat.twin, chat.encode("Once upon a time"), max_new_tokens=16, sampling=drawn))

    assert text(1) == text(1)
    assert text(1) != text(2)


@pytest.mark.parametrize("backend", ["evaluator", "torch"])
def test_the_command(prepared: Path, backend: str) -> None:
    options = ["--prepared", str(prepared), "--backend", backend, "--max-new-tokens", "8"]
    result = CliRunner().invoke(app, [PROMPT, *options])
    assert result.exit_code == 0, result.output
    assert f"{PROMPT} red, yellow and blue." in result.output
    assert f"8 tokens by {backend}" in result.output
    assert "PASS" in result.output
