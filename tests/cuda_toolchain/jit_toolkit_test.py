"""A program compiles with the compiler in its runfiles, whatever else is on PATH."""

from pathlib import Path

import pytest

from tests.cuda_toolchain.toolkit import RUNFILES, TOOLKIT, run

KERNEL = """
#include <cute/tensor.hpp>
#include <cuda/std/cstdint>
extern "C" __global__ void fill(float* x, cuda::std::int64_t n) {
  auto tensor = cute::make_tensor(cute::make_gmem_ptr(x), n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) tensor(i) = 1.0f;
}
"""


def compile_cubin(folder: Path, arch: str) -> Path:
    folder.mkdir()
    source, cubin = folder / "fill.cu", folder / "fill.cubin"
    source.write_text(KERNEL)
    run(
        "nvcc",
        *["-noprof", "-objtemp", "-cubin", f"-arch={arch}", "-std=c++17"],
        # else the names of static objects come from the absolute path
        *["-frandom-seed=fill.cu", "-Xcudafe", "--orig_src_path_name=fill.cu"],
        *["-isystem", f"{TOOLKIT}/include", "-isystem", f"{TOOLKIT}/include/cccl"],
        *["-isystem", f"{RUNFILES}/tilefoundry_cutlass/include"],
        *[str(source), "-o", str(cubin)],
    )
    return cubin


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_cubin_is_for_the_architecture(tmp_path: Path, arch: str) -> None:
    sass = run("cuobjdump", "-sass", compile_cubin(tmp_path / "one", arch))
    assert f"code for {arch}" in sass
    assert "Function : fill" in sass
    assert "STG.E" in sass


def test_cubin_does_not_depend_on_its_folder(tmp_path: Path) -> None:
    one, two = compile_cubin(tmp_path / "one", "sm_90a"), compile_cubin(tmp_path / "another", "sm_90a")
    assert one.read_bytes() == two.read_bytes()
