"""Parts of real models, as they are written without a mesh: compiled, and held against the evaluator in f64.

Bounds: activations near 1 through three products, softmaxes and norms in f32.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from examples.models.bert import BertConfig, bert
from examples.models.llama import LlamaConfig, llama
from tests.compiler.running import compare
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.selectors import select
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.runtime import AllClose

SIZES = {"B": 2, "S": 5, "L": 9}  # two sequences of five new tokens, in caches of nine places
MODELS = {
    "llama": llama(LlamaConfig(layers=1, hidden=64, heads=4, key_heads=2, head_dim=16, wide=96)),
    "bert": bert(replace(BertConfig(), layers=1, hidden=64, heads=4, wide=96)),
}


def argument(type_: TensorType, generator: torch.Generator) -> torch.Tensor:
    """Noise; of a mask the places that are seen; of a position the third one."""
    known = [SIZES[extent.name] if isinstance(extent, DimVar) else extent for extent in type_.shape]
    shape = [extent for extent in known if isinstance(extent, int)]
    if type_.dtype is DType.bool:
        return torch.arange(shape[-1]) < torch.tensor(3).expand(shape)
    if not type_.shape:
        return torch.tensor(3, dtype=torch.int32)
    return torch.randn(shape, generator=generator) * 0.3


@pytest.mark.parametrize(
    ("model", "path"),
    [("llama", "layer0.attention"), ("llama", "layer0.feed_forward"), ("bert", "layer0.attention.attend")],
)
def test_a_part_compiles_as_it_is_written(model: str, path: str) -> None:
    module = select(MODELS[model], path)
    assert isinstance(module, Module)
    entry = module.entry_function()
    assert isinstance(entry, Function)
    generator = torch.Generator().manual_seed(0)
    types = [param.type for param in entry.params]
    inputs = [argument(type_, generator) for type_ in types if isinstance(type_, TensorType)]
    compare(module, *inputs, bounds=[AllClose(atol=1e-5, rtol=1e-5)])
