"""The attention libraries of a bundle: what each file holds, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilefoundry import load
from tilefoundry.runtime import CompiledModule
from tools.device_bundle.programs import Variant, variant_of


@dataclass(frozen=True)
class AttentionLibrary:
    """One compiled attention program: (B, S, head_dim) tensors, any B and S."""

    name: str
    variant: Variant
    kernel: CompiledModule


def attention_libraries(folder: Path) -> list[AttentionLibrary]:
    """Loads every attention library of a folder, ordered by head dimension, dtype and mask.

    Raises:
        FileNotFoundError: the folder holds none.
    """
    found = [
        AttentionLibrary(path.stem, variant, load(path))
        for path in folder.glob("*.so")
        if (variant := variant_of(path.stem)) is not None
    ]
    if not found:
        raise FileNotFoundError(f"{folder} holds no library named attention_d<dim>_<dtype>[_causal].so")
    return sorted(found, key=lambda x: (x.variant.head_dim, x.variant.dtype, x.variant.causal))
