"""A Python program finds the pinned compiler in its runfiles and compiles with it, whatever else is on PATH."""

import os
import subprocess
from pathlib import Path

import pytest

KERNEL = """
#include <cute/tensor.hpp>
#include <cuda/std/cstdint>
extern "C" __global__ void fill(float* x, cuda::std::int64_t n) {
  auto tensor = cute::make_tensor(cute::make_gmem_ptr(x), n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) tensor(i) = 1.0f;
}
"""


def runfiles() -> Path:
    return Path(os.environ["RUNFILES_DIR"])


def environment(toolkit: Path) -> dict[str, str]:
    return {
        "CICC_PATH": f"{toolkit}/nvvm/bin",
        "LC_ALL": "C",
        "NVVMIR_LIBRARY_DIR": f"{toolkit}/nvvm/libdevice",
        "PATH": f"{toolkit}/bin:/usr/bin:/bin",
        "PWD": "/proc/self/cwd",
    }


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_compiles_a_cubin(tmp_path: Path, arch: str) -> None:
    toolkit = runfiles() / "tilefoundry_cuda"
    source, cubin = tmp_path / "fill.cu", tmp_path / "fill.cubin"
    source.write_text(KERNEL)
    subprocess.run(
        [
            *[toolkit / "bin/nvcc", "-noprof", "-objtemp", "-cubin", f"-arch={arch}", "-std=c++17"],
            *["-isystem", toolkit / "include", "-isystem", toolkit / "include/cccl"],
            *["-isystem", runfiles() / "tilefoundry_cutlass/include"],
            *[source, "-o", cubin],
        ],
        env=environment(toolkit),
        check=True,
    )
    dump = subprocess.run(
        [toolkit / "bin/cuobjdump", "-sass", cubin], env=environment(toolkit), check=True, capture_output=True, text=True
    ).stdout
    assert f"code for {arch}" in dump
    assert "Function : fill" in dump
    assert "STG.E" in dump
