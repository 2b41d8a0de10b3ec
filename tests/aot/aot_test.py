"""What `tilefoundry_kernel` builds is what `jit` builds."""

import json
from pathlib import Path

import pytest
import torch

from tilefoundry.driver import CompilerOptions, load
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.scale_program import Scale
from tilefoundry.target import CpuTarget, CudaTarget

HERE = Path(__file__).absolute().parent


def test_a_cpu_library_runs() -> None:
    scale = load(HERE / "scale_cpu.so")
    x = torch.randn(37, 64)
    assert torch.equal(scale(x), 2 * x)  # type: ignore[arg-type]
    assert list(scale.sources) == ["scale.cc", "host_entry.cc"]
    assert scale.build_info is not None and scale.build_info.origin == "library"


def test_a_cuda_library_checks_its_arguments_without_a_gpu() -> None:
    scale = load(HERE / "scale_cuda.so")
    with pytest.raises(ValueError, match="argument 'x' must be a kDLCUDA tensor"):
        scale(torch.randn(4, 64))
    assert list(scale.sources) == ["scale.cu", "cubins.S", "host_entry.cc"]


def test_keys_are_those_of_jit() -> None:
    scale = load(HERE / "scale_cpu.so")
    assert scale.linked is not None
    assert scale.linked.key == module_key(Scale, CpuTarget(), CompilerOptions())
    keys = dict(line.split() for line in (HERE / "scale_cuda.key").read_text().splitlines())
    assert list(keys) == ["sm_90a", "sm_80"]
    assert keys["sm_90a"] == module_key(Scale, CudaTarget("nvidia.h200_sxm"), CompilerOptions())
    assert load(HERE / "scale_cuda.so").linked.key == keys["sm_90a"]  # type: ignore[union-attr]


def test_the_abi_is_written_beside_the_library() -> None:
    abi = json.loads((HERE / "scale_cuda.abi.json").read_text())
    assert abi["target"]["isa"] == "sm_90a"
    assert [p["name"] for p in abi["entry"]["params"]] == ["x", "out"] and abi["entry"]["output_count"] == 1
    assert abi["kernels"][0]["grid"] is None and abi["kernels"][0]["block"] == 64


@pytest.mark.parametrize("name", ["scale_cpu.so", "scale_cuda.so"])
def test_a_library_does_not_tell_where_it_was_built(name: str) -> None:
    content = (HERE / name).read_bytes()
    for trace in (b"/external/", b"/execroot/", b".runfiles/", b"/tmp/"):
        assert trace not in content
