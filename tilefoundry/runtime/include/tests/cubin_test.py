"""What the attention kernel compiles to: tensor core instructions fed by ldmatrix and cp.async, registers only."""

import re
from pathlib import Path

import pytest

from tests.cuda_toolchain.toolkit import RUNFILES, TOOLKIT, run

_FOLDER = RUNFILES / "_main/tilefoundry/runtime/include/tests"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_instructions(arch: str) -> None:
    sass = run("cuobjdump", "-sass", "-fun", "attention__vector", _FOLDER / f"attention_{arch}.cubin")
    # 64 x 64 scores over D = 64, and 64 x 64 outputs over 64 keys, by four warps: 8 * 4 blocks of 16x8x16 each.
    assert len(re.findall(r"\bHMMA\.16816\.F32\.BF16", sass)) == 64
    assert len(re.findall(r"\bLDSM\.16\.M88\.4", sass)) == 24, "Q, K and P as they lie"
    assert len(re.findall(r"\bLDSM\.16\.MT88\.4", sass)) == 16, "V transposed"
    assert re.search(r"\bLDGSTS\.E\.BYPASS\.(LTC128B\.)?128", sass), "cp.async of 16 bytes"
    assert not re.search(r"\b(LDL|STL)\b", sass), "registers were spilled or indexed"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_no_stack(arch: str) -> None:
    usage = run("cuobjdump", "-res-usage", _FOLDER / f"attention_{arch}.cubin")
    found = dict(re.findall(r"Function (\w+):\s+REG:\d+ STACK:(\d+)", usage))
    assert found == {"attention__vector": "0", "attention__general": "0"}


def test_a_warp_specialised_product() -> None:
    """Bulk copies feed warpgroup instructions; a release is no fence of the whole GPU; nothing is spilled."""
    sass = run("cuobjdump", "-sass", "-fun", "gemm__vector", _FOLDER / "gemm_sm_90a.cubin")
    assert re.search(r"\bHGMMA\.64x256x16\.F32\.BF16", sass)
    assert re.search(r"\bUTMALDG\.2D\.MULTICAST", sass) and re.search(r"\bUTMALDG\.2D ", sass)
    assert re.search(r"\bUTMASTG\.2D", sass)
    assert len(re.findall(r"\bUSETMAXREG", sass)) == 3, "a role that gives registers up and two that claim them"
    assert not re.search(r"\b(LDL|STL)\b", sass), "registers were spilled or indexed"
    # Between the first and the last product, apart from the one fence when the pipeline is made.
    products = sass[sass.index("HGMMA") : sass.rindex("HGMMA")]
    assert "MEMBAR.ALL.GPU" not in products


_CALLER = """
#include <tilefoundry/runtime.h>
namespace tilefoundry {{ inline namespace TILEFOUNDRY_UNIT {{
{attribute} void call() {{ ops::sync<SyncKind::cta>(); }}
}} }}
"""


def _compile(attribute: str, phase: str, folder: Path) -> None:
    source = folder / "caller.cu"
    source.write_text(_CALLER.format(attribute=attribute))
    includes = [RUNFILES / "tilefoundry_cutlass/include", TOOLKIT / "include", TOOLKIT / "include/cccl"]
    system = [flag for path in includes for flag in ("-isystem", path)]
    ours = RUNFILES / "_main/tilefoundry/runtime/include"
    options = ["-std=c++17", "-arch=sm_90a", "-DTILEFOUNDRY_TARGET_CUDA=1", phase, "-objtemp", "-noprof"]
    run("nvcc", *options, "-I", ours, *system, source, "-o", folder / "caller.out")


def test_ops_are_for_device_code(tmp_path: Path) -> None:
    _compile("__device__", "-cubin", tmp_path)
    with pytest.raises(AssertionError, match="calling a __device__ function.*from a __host__ function"):
        # -cubin does not look at host functions.
        _compile("", "-cuda", tmp_path)
