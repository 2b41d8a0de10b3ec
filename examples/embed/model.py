"""The encoder with its weights: from the package's checkpoint, through a prepared directory, to embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from examples.attention.model import model_directory, tokenize
from examples.embed.program import ALIAS, ENCODER
from examples.embed.twin import TORCH_ENCODER
from tilefoundry.ir.core.module import LoadedModule
from tilefoundry.runtime import AllClose, Cosine, Report, RuntimeModule, SafetensorsResource, check

# f32 against f32: six layers of other kernels differ in the last bits of numbers below 1.
BOUNDS = (AllClose(atol=1e-6, rtol=1e-5), Cosine(min=1 - 1e-6))


def prepare(out_dir: str | os.PathLike[str]) -> None:
    """Writes the encoder's own weights, made from the installed package's."""
    with SafetensorsResource(model_directory(), device="cpu", alias=ALIAS) as raw:
        ENCODER.prepare(raw, out_dir)


def load(prepared: str | os.PathLike[str]) -> tuple[LoadedModule, RuntimeModule]:
    """The encoder on the evaluator and its twin on torch, both on the CPU, from a prepared directory."""
    with SafetensorsResource(prepared, device="cpu") as weights:
        loaded, twin = ENCODER.load(weights), TORCH_ENCODER()
        twin.load(weights)
    return loaded, twin


def token_ids(sentence: str) -> Tensor:
    """(tokens,) i64.

    Raises:
        ValueError: the sentence is blank or too long.
    """
    return torch.tensor(tokenize(sentence, model_directory())[0])


def embed(model: Callable[..., object], sentences: Sequence[str]) -> Tensor:
    """(sentences, 384) f32, each row of length 1."""
    rows = [model(token_ids(sentence)) for sentence in sentences]
    return torch.stack([row for row in rows if isinstance(row, Tensor)])


def compare(loaded: LoadedModule, twin: RuntimeModule, sentence: str) -> Report:
    """The twin, held against the evaluator on one sentence."""
    return check(twin, loaded, (token_ids(sentence),), expect={"output": BOUNDS})


def is_prepared(directory: Path) -> bool:
    """Whether a directory holds prepared weights."""
    return (directory / "model.safetensors.index.json").is_file()
