"""Whole models, as they are written without a mesh: compiled, layers and all, and held against plain torch in f64."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from examples.models.bert import BertConfig
from examples.models.compare import RELATIVE_BOUNDS, tokens
from examples.models.llama import LlamaConfig
from examples.models.suite import Model, bert_model, llama_model
from examples.models.weights import random_weights
from tests.compiler.running import built, compiled

MODELS = [
    bert_model("bert", replace(BertConfig(), layers=2, hidden=64, heads=4, wide=96)),
    llama_model("llama", LlamaConfig(layers=2, hidden=64, heads=4, key_heads=2, head_dim=16, wide=96)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.title)
def test_a_model_compiles_as_it_is_written(model: Model) -> None:
    generator = torch.Generator().manual_seed(0)
    module = model.build("f32")
    weights = random_weights(module, generator)
    x = tokens(model, 2, 5, "f32", generator)
    given = (x, *model.state(x))
    # the weights of children follow, under their dotted names
    params = built(module).type.input_params[len(given) :]
    by_name = {name.replace(".", "_"): value for name, value in weights.items()}
    assert [p.name for p in params] == list(by_name)
    result = compiled(module)(*given, *by_name.values())
    ours = result[0] if isinstance(result, tuple) else result
    exact = model.exact(weights, x)
    assert (ours.double() - exact).norm() <= RELATIVE_BOUNDS["f32"] * exact.norm()
