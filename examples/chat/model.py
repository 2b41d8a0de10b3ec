"""The model with its weights: from a GGUF file, through a prepared directory, to logits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from tokenizers import Tokenizer
from torch import Tensor

from examples.chat.checkpoint import Dequantized, config_of
from examples.chat.config import Config
from examples.chat.program import aliases, gemma
from examples.chat.tokenizer import tokenizer_of
from examples.chat.twin import torch_gemma
from tilefoundry.ir.core.module import LoadedModule
from tilefoundry.runtime import Cosine, DictResource, MaxAbs, Report, RuntimeModule, SafetensorsResource, check

_CONFIG, _TOKENIZER, _WEIGHTS = "config.json", "tokenizer.json", "weights"
# f32 against f32; logits lie within some tens.
BOUNDS = (MaxAbs(max=1e-3), Cosine(min=1 - 1e-9))


@dataclass(frozen=True)
class Chat:
    """A model that is ready to run: on the evaluator, on torch, and its tokenizer."""

    config: Config
    loaded: LoadedModule
    twin: RuntimeModule
    tokenizer: Tokenizer

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, the beginning-of-text token first.

        Raises:
            ValueError: the text has more tokens than the model has positions.
        """
        ids: list[int] = [self._token("<bos>"), *self.tokenizer.encode(text).ids]
        if len(ids) > self.config.positions:
            raise ValueError(f"the prompt has {len(ids)} tokens; the model takes at most {self.config.positions}")
        return ids

    @property
    def stop(self) -> list[int]:
        """The tokens that end a text."""
        return [self._token("<eos>")]

    def _token(self, name: str) -> int:
        token = self.tokenizer.token_to_id(name)
        if token is None:
            raise ValueError(f"the tokenizer has no token {name}")
        return token

    def compare(self, ids: Sequence[int]) -> Report:
        """The twin, held against the evaluator: the logits after each of the tokens."""
        return check(
            lambda given: all_logits(self.twin, given.tolist()),
            lambda given: all_logits(self.loaded, given.tolist()),
            (torch.tensor(ids),),
            expect={"output": BOUNDS},
        )


def prepare(gguf: Path, directory: Path) -> None:
    """Writes what `load` reads: the model's sizes, the tokenizer, and last the weights in f32."""
    reader = GGUFReader(gguf)
    config = config_of(reader)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _CONFIG).write_text(json.dumps(asdict(config), indent=2) + "\n")
    tokenizer_of(reader).save(str(directory / _TOKENIZER))
    gemma(config).prepare(DictResource(Dequantized(reader), alias=aliases(config)), directory / _WEIGHTS)


def is_prepared(directory: Path) -> bool:
    """Whether `prepare` has filled a directory."""
    return (directory / _WEIGHTS).is_dir()  # it appears when it is complete


def load(directory: Path) -> Chat:
    """The model of a prepared directory, on the CPU. Evaluator and twin share the mapped weights."""
    config = Config(**json.loads((directory / _CONFIG).read_text()))
    model = gemma(config)
    with SafetensorsResource(directory / _WEIGHTS, device="cpu") as weights:
        loaded = model.load(weights)
        twin = torch_gemma(config, model)()
        twin.load(weights)
    return Chat(config, loaded, twin, Tokenizer.from_file(str(directory / _TOKENIZER)))


def all_logits(model: Any, ids: Sequence[int]) -> Tensor:
    """(tokens, vocabulary): the logits after each token, by the model's own methods."""
    device = torch.device("cpu")
    caches = model.init_caches(len(ids), device=device)
    rows = []
    for step in range(len(ids)):
        inputs = model.prepare_inputs_for_generation(torch.tensor(ids[: step + 1]), step, caches, device=device)
        logits, *state = model(*inputs)
        caches = model.append_cache(caches, tuple(state), step)
        rows.append(logits)
    return torch.stack(rows)
