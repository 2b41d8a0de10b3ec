"""What `tilefoundry_kernel` builds for CUDA, as far as it shows without a GPU."""

import json
from pathlib import Path

import pytest
import torch

from tilefoundry.driver import CompilerOptions, load
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.scale_program import TWICE
from tilefoundry.target import CudaTarget

HERE = Path(__file__).absolute().parent


def test_it_checks_its_arguments_without_a_gpu() -> None:
    scale = load(HERE / "scale_cuda.so")
    with pytest.raises(ValueError, match="argument 'x' must be a kDLCUDA tensor"):
        scale(torch.randn(4, 64))
    assert list(scale.sources) == ["scale.cu", "cubins.S", "host_entry.cc"]


def test_it_has_a_key_for_each_architecture_the_first_that_of_jit() -> None:
    keys = dict(line.split() for line in (HERE / "scale_cuda.key").read_text().splitlines())
    assert list(keys) == ["sm_90a", "sm_80"]
    assert keys["sm_90a"] == module_key(TWICE, CudaTarget("nvidia.h200_sxm"), CompilerOptions())
    linked = load(HERE / "scale_cuda.so").linked
    assert linked is not None and linked.key == keys["sm_90a"]


def test_the_abi_is_written_beside_it() -> None:
    abi = json.loads((HERE / "scale_cuda.abi.json").read_text())
    assert abi["target"]["isa"] == "sm_90a"
    assert [p["name"] for p in abi["entry"]["params"]] == ["x", "out"] and abi["entry"]["output_count"] == 1
    assert abi["kernels"][0]["grid"] is None and abi["kernels"][0]["block"] == 64


def test_it_does_not_tell_where_it_was_built() -> None:
    content = (HERE / "scale_cuda.so").read_bytes()
    for trace in (b"/external/", b"/execroot/", b".runfiles/", b"/tmp/"):
        assert trace not in content
