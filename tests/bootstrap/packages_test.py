"""The packages of the hub import together, from their own folders, under the toolchain's Python."""

import importlib.metadata
import importlib.util
import sys

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


def test_they_work_together() -> None:
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    array = safetensors.numpy.load(safetensors.numpy.save({"x": tensor.numpy()}))["x"]
    assert np.array_equal(array, tensor.numpy())
    assert tuple(tvm_ffi.from_dlpack(tensor).shape) == (2, 3)


def test_pytest_is_the_locked_one() -> None:
    assert "site" in pytest.__file__
